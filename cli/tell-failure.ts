import { printable } from './printable.ts';
import { UsageError } from './usage-error.ts';

/**
 * Says why a command could not do what it was to, and ends it with 2 where it was called wrongly, or 1, unless
 * it is known already how it ends. For a program, which asked for JSON, the sentence is a line of that as well.
 *
 * @param args as the command was given them: that it was called wrongly may be why they were never parsed.
 */
export function tellFailure(command: string, error: unknown, args: readonly string[] = []): void {
  const sentence = error instanceof Error ? error.message : String(error);
  console.error(`${command}: ${printable(sentence)}`);
  if (args.includes('--json')) console.log(JSON.stringify({ error: sentence }));
  process.exitCode ??= error instanceof UsageError ? 2 : 1;
}
