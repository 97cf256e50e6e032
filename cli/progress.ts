export interface Progress {
  /** How far it is, in a line that takes the place of the one before. */
  show(line: string): void;
  /** Leaves the terminal to what is told next. */
  end(): void;
}

/** Often enough to see that it goes on, and seldom enough for a log. */
const BETWEEN_MS = 2000;

/** How far a command is: on a terminal as it goes, and in a file or a pipe a line now and then. */
export function createProgress({
  betweenMs = BETWEEN_MS,
  stream = process.stderr,
  now = () => performance.now(),
}: {
  betweenMs?: number;
  stream?: { isTTY?: boolean; write: (text: string) => unknown };
  now?: () => number;
} = {}): Progress {
  let told: number | undefined;
  return {
    show(line) {
      if (stream.isTTY) {
        stream.write(`\r\u001b[K${line}`);
        return;
      }
      // From its beginning on: what is done at once has nothing to tell of.
      told ??= now();
      if (now() - told >= betweenMs) {
        told = now();
        stream.write(`${line}\n`);
      }
    },
    end() {
      if (stream.isTTY) stream.write('\r\u001b[K');
    },
  };
}
