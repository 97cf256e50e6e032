import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { UsageError } from './usage-error.ts';

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Options }>
>['values'];

/**
 * What a command line asks for. What begins with one dash may be a value, as a negative number is one;
 * what begins with two is the next option.
 *
 * @throws UsageError with one sentence, where Node's own have several, of its own terms.
 */
export function readOptions<const Options extends ParseArgsOptionsConfig>(
  given: readonly string[],
  options: Options,
): Values<Options> {
  const { tokens } = parseArgs({
    args: [...given],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const seen = new Set<string>();
  const args = tokens.map((token) => {
    if (token.kind !== 'option') {
      const text = token.kind === 'positional' ? token.value : '--';
      throw new UsageError(`Expected options only, got "${text}". See --help.`);
    }
    const { name, rawName, value } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined || !rawName.startsWith('--')) {
      throw new UsageError(`Expected an option that there is, got ${rawName}. See --help.`);
    }
    // Node would take the last, and the others would be forgotten.
    if (seen.has(name)) throw new UsageError(`${rawName}: expected it once, got it again.`);
    seen.add(name);
    if (option.type === 'boolean') {
      if (value === undefined) return rawName;
      throw new UsageError(`${rawName}: expected no value, got "${value}".`);
    }
    const isMissing = value === undefined || (!token.inlineValue && value.startsWith('--'));
    if (isMissing) throw new UsageError(`${rawName}: expected a value, got none.`);
    if (value.trim() === '') throw new UsageError(`${rawName}: expected a value, got "${value}".`);
    return `${rawName}=${value}`;
  });
  return parseArgs({ args, options }).values;
}

/** An option's value, in digits: `1e3` and `0x10` are slips. @throws UsageError */
export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(
    `${option}: expected a whole number from ${least} to ${most}, got "${text}".`,
  );
}
