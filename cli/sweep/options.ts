import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import type { Mode } from '../../shared/fleet/allowance-settings.ts';
import { UsageError } from '../target.ts';

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
export function readOptions(given: readonly string[]): SweepArguments | undefined {
  const { values } = parse(given);
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
  if (out === '') throw new UsageError('--out: expected a file, got "".');
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

function parse(given: readonly string[]) {
  try {
    return parseArgs({
      args: [...given],
      options: {
        provider: { type: 'boolean', default: false },
        mode: { type: 'string', default: 'bulk' },
        from: { type: 'string', default: '4' },
        to: { type: 'string', default: '512' },
        seconds: { type: 'string', default: '20' },
        out: { type: 'string', default: '.glimpse/sweep.svg' },
        json: { type: 'boolean', default: false },
        state: { type: 'string', default: '.glimpse' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(
    `${option}: expected a whole number from ${least} to ${most}, got "${text}".`,
  );
}

/** A place that cannot be written to is found out before minutes and money have gone into a sweep. */
export async function prepareOut(out: string): Promise<void> {
  const there = await stat(out).catch(() => undefined);
  if (there?.isDirectory()) {
    throw new UsageError(`--out: expected a file, got the folder ${out}.`);
  }
  try {
    await mkdir(dirname(out), { recursive: true });
  } catch (cause) {
    throw new UsageError(`--out: expected a file in a folder that can be made, got ${out}.`, {
      cause,
    });
  }
}
