import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** What is kept between starts, in one folder that one local cloud uses at a time. */
export interface State {
  readonly dir: string;
  /** Lets the next one in. */
  release(): void;
}

const DATA = ['fauxqs', 'dynamodb.sqlite', 'dynamodb.sqlite-wal', 'dynamodb.sqlite-shm'];
const NOTES = ['notifications.jsonl', 'logs', 'endpoints.json'];

/**
 * @param reset empties it first: objects, messages, items, logs.
 * @throws if another local cloud runs on the same folder.
 */
export function takeState(dir: string, reset: boolean): State {
  mkdirSync(dir, { recursive: true });
  const lock = join(dir, 'running.json');
  takeLock(lock, dir);
  if (reset) {
    for (const name of [...DATA, ...NOTES])
      rmSync(join(dir, name), { recursive: true, force: true });
  }
  mkdirSync(join(dir, 'logs'), { recursive: true });
  const release = () => {
    rmSync(join(dir, 'endpoints.json'), { force: true });
    rmSync(lock, { force: true });
  };
  // Also if it is interrupted before it has started.
  process.once('exit', release);
  return {
    dir,
    release() {
      process.off('exit', release);
      release();
    },
  };
}

const lockSchema = z.strictObject({ pid: z.int(), started: z.string().optional() });

function takeLock(lock: string, dir: string): void {
  const started = startOf(process.pid);
  const mine = JSON.stringify({ pid: process.pid, ...(started ? { started } : {}) });
  let failure: unknown;
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(lock, mine, { flag: 'wx' });
      return;
    } catch (cause) {
      failure = cause;
      const owner = ownerOf(lock);
      if (owner !== undefined) {
        throw new Error(
          `A local cloud already runs on ${dir} (process ${owner}). Stop it, or give this one a folder of its own with --state and ports of its own with PORT.`,
        );
      }
      // It was killed and could not tidy up.
      rmSync(lock, { force: true });
    }
  }
  throw new Error(`${lock} cannot be written: ${failure}`);
}

/** The process that holds the lock, if it is still the one that took it: numbers are used again. */
function ownerOf(lock: string): number | undefined {
  const parsed = lockSchema.safeParse(existsSync(lock) ? parseJson(lock) : undefined);
  if (!parsed.success) return undefined;
  const { pid, started } = parsed.data;
  try {
    process.kill(pid, 0);
  } catch {
    return undefined;
  }
  return started === undefined || started === startOf(pid) ? pid : undefined;
}

function parseJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** When a process started, in the kernel's ticks; nothing where there is no /proc. */
function startOf(pid: number): string | undefined {
  try {
    // The name, in parentheses, may itself hold spaces; the 20th field after it is the start.
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[19];
  } catch {
    return undefined;
  }
}
