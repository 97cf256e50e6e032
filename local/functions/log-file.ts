import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs';

/** Where a function's lines go: whole text, as it comes. */
export interface Log {
  write(text: string): void;
  close(): void;
}

/**
 * A log that keeps the newest lines: when it is full, it becomes `<path>.1` and a new one starts.
 *
 * @param limit bytes; twice that is kept.
 */
export function openLog(path: string, also?: (text: string) => void, limit = 5_000_000): Log {
  let size = sizeOf(path);
  let stream = open(path);
  return {
    write(text) {
      also?.(text);
      if (size > limit) {
        stream.end();
        renameSync(path, `${path}.1`);
        stream = open(path);
        size = 0;
      }
      size += Buffer.byteLength(text);
      stream.write(text);
    },
    close: () => stream.end(),
  };
}

function open(path: string): WriteStream {
  const stream = createWriteStream(path, { flags: 'a' });
  // A log that cannot be written (a full disk, a folder removed) must not end what it is about.
  stream.on('error', () => {});
  return stream;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
