import { access, constants, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Mode } from '../../shared/fleet/allowance-settings.ts';
import { makeFolder } from '../make-folder.ts';
import { readOptions, wholeNumber } from '../read-options.ts';
import { UsageError } from '../usage-error.ts';

/** The variable with the key of a provider that is configured. */
export const PROVIDER_KEY = 'GLIMPSE_PROVIDER_KEY';

export interface SweepArguments {
  /** Whose provider is called, where the modes have their own. */
  readonly mode: Mode;
  readonly first: number;
  readonly most: number;
  readonly stepMs: number;
  /** The configured provider, and not the simulator. */
  readonly isReal: boolean;
  readonly isJson: boolean;
  readonly out: string;
  readonly state: string;
}

/** What a command line asks for; undefined where that is help. @throws UsageError with one sentence. */
export function readArguments(given: readonly string[]): SweepArguments | undefined {
  const values = readOptions(given, {
    provider: { type: 'boolean', default: false },
    mode: { type: 'string', default: 'bulk' },
    from: { type: 'string', default: '4' },
    to: { type: 'string', default: '512' },
    seconds: { type: 'string', default: '20' },
    out: { type: 'string', default: '.glimpse/sweep.svg' },
    json: { type: 'boolean', default: false },
    state: { type: 'string', default: '.glimpse' },
    help: { type: 'boolean', default: false },
  });
  if (values.help) return undefined;
  const first = wholeNumber('--from', values.from, 1, 5000);
  const most = wholeNumber('--to', values.to, 1, 5000);
  if (most < first) {
    throw new UsageError(`--to: expected --from (${first}) or more, got ${most}.`);
  }
  const { mode, out } = values;
  if (mode !== 'interactive' && mode !== 'bulk') {
    throw new UsageError(`--mode: expected interactive or bulk, got "${mode}".`);
  }
  return {
    mode,
    out,
    first,
    most,
    stepMs: wholeNumber('--seconds', values.seconds, 5, 600) * 1000,
    isReal: values.provider,
    isJson: values.json,
    state: values.state,
  };
}

/** Where the curve goes. */
export interface Curve {
  /** Absolute: the folder that a command runs in is not always the one that it was called from. */
  readonly file: string;
  /** The first folder that was made for it. */
  readonly made: string | undefined;
  /** @throws one sentence that says why it could not be written. */
  write(svg: string): Promise<void>;
}

/** A place that cannot be written to is found out before minutes and money have gone into a sweep. */
export async function prepareOut(out: string): Promise<Curve> {
  const file = resolve(out);
  const there = await stat(file).catch(() => undefined);
  if (there?.isDirectory()) {
    throw new UsageError(`--out: expected a file, got the folder ${file}.`);
  }
  let made: string | undefined;
  try {
    made = makeFolder(dirname(file));
  } catch (cause) {
    throw new UsageError(`--out: expected a file in a folder that can be made, got ${file}.`, {
      cause,
    });
  }
  try {
    await access(there === undefined ? dirname(file) : file, constants.W_OK);
  } catch (cause) {
    throw new UsageError(`--out: expected a file that can be written, got ${file}.`, { cause });
  }
  return {
    file,
    made,
    async write(svg) {
      try {
        await writeFile(file, svg);
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`The curve could not be written to ${file}: ${why}.`, { cause });
      }
    },
  };
}
