import { UsageError } from './usage-error.ts';

/**
 * Says why a command could not do what it was to, and ends it with 2 where it was called wrongly, or 1. For a
 * program, which asked for JSON, the sentence is a line of that as well. @param args as the command was given
 * them: that it was called wrongly may be why they were never parsed.
 */
export function tellFailure(command: string, error: unknown, args: readonly string[]): void {
  console.error(error instanceof Error ? `${command}: ${error.message}` : error);
  if (args.includes('--json')) {
    console.log(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
  }
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
