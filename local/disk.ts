import { statfs } from 'node:fs/promises';

/** Says that the state's disk is full, or cannot be written to: the engines only answer 500, and logs are lost. */
export interface Disk {
  /** Does a write that is lost where it fails, rather than end what it is about. */
  attempt(write: () => void): void;
  stop(): void;
}

/** Bytes: SQLite, once refused, has written as much as there was room for. */
const FULL = 1_000_000;
const EVERY_MS = 1000;

/** @param tell hears of each trouble once; of a full disk again, if there was room in between. */
export function watchDisk(
  stateDir: string,
  tell: (line: string) => void,
  free: (path: string) => Promise<number> = freeBytes,
): Disk {
  const told = new Set<string>();
  const meet = (line: string): void => {
    if (told.has(line)) return;
    told.add(line);
    tell(line);
  };
  let wasFull = false;
  const look = async (): Promise<void> => {
    const left = await free(stateDir);
    if (left < FULL) {
      wasFull = true;
      meet(fullDisk(stateDir));
    } else if (wasFull && left > 10 * FULL) {
      wasFull = false;
      told.clear();
    }
  };
  // A folder that cannot be looked at is told of by whoever writes to it.
  const timer = setInterval(() => void look().catch(() => {}), EVERY_MS).unref();
  return {
    attempt(write) {
      try {
        write();
      } catch (error) {
        meet(saysFull(error) ? fullDisk(stateDir) : unwritable(error, stateDir));
      }
    },
    stop: () => clearInterval(timer),
  };
}

/** The error of a start; in words, if the state's disk was too full for it. */
export async function startFailure(error: unknown, stateDir: string): Promise<unknown> {
  if (!saysFull(error)) return error;
  // What synthesis writes may be on another disk.
  const left = await freeBytes(stateDir).catch(() => FULL);
  return left < FULL ? new Error(fullDisk(stateDir), { cause: error }) : error;
}

/** As the file system and SQLite say it. */
function saysFull(error: unknown): boolean {
  return error instanceof Error && /ENOSPC|disk is full/.test(error.message);
}

function fullDisk(stateDir: string): string {
  return `The disk of ${stateDir} is full: nothing more is kept there, and logs are lost. Make room on it, or start with --state on another, or with --reset, which forgets what is kept.`;
}

function unwritable(error: unknown, stateDir: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : error;
  return `Nothing can be written to ${stateDir} (${code}): what happens is not kept, and logs are lost. Make it writable, or start with --state elsewhere.`;
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
