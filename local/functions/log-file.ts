import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import type { Disk } from '../disk.ts';

/** Where a function's lines go: whole text, as it comes. */
export interface Log {
  write(text: string): void;
  close(): void;
}

/**
 * A log that keeps the newest lines: when it is full, it becomes `<path>.1` and a new one starts.
 *
 * Written synchronously, some microseconds each, so that a line is there when what it tells of is known.
 *
 * @param attempt writes: a log that cannot be written must not end what it is about.
 * @param limit bytes; twice that is kept.
 */
export function openLog(
  path: string,
  attempt: Disk['attempt'],
  also?: (text: string) => void,
  limit = 5_000_000,
): Log {
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  let file: number | undefined;
  let closed = false;
  const release = () => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  const append = (text: string) => {
    if (size > limit) {
      release();
      renameSync(path, `${path}.1`);
      size = 0;
    }
    file ??= openSync(path, 'a');
    size += writeSync(file, text);
  };
  const log: Log = {
    write(text) {
      also?.(text);
      // A process that was killed may still have had something to say.
      if (!closed) attempt(() => append(text));
    },
    close() {
      closed = true;
      release();
    },
  };
  // There from the start, for whoever follows it.
  log.write('');
  return log;
}
