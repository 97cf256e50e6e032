/** What a shell calls a command that was stopped by Ctrl-C. */
export const INTERRUPTED = 130;

/** Ctrl-C may come twice at once, to the process group and from npm. */
export const SAME_MS = 500;

/**
 * The first signal lets what runs end, and says so; the next one ends the command at once.
 *
 * @param ends what is still done before the command ends: `the page under way is sent`
 */
export function stopBySignals(ends: string): AbortSignal {
  const stop = new AbortController();
  let stoppedAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stoppedAt === undefined) {
        stoppedAt = performance.now();
        console.error(`\nStopping: ${ends}. Once more ends it at once.`);
        stop.abort();
      } else if (performance.now() - stoppedAt > SAME_MS) {
        process.exit(INTERRUPTED);
      }
    });
  }
  return stop.signal;
}
