/**
 * When this process may call. A refused call spends the allowance too, so after one nobody here calls
 * until the provider's own time.
 */
export interface Pace {
  /** Milliseconds until a call may begin: 0 for now. */
  waitMs(now: number): number;
  refused(retryAfterMs: number, now: number): void;
}

export function createPace(): Pace {
  let quietUntil = 0;
  return {
    waitMs: (now) => Math.max(0, quietUntil - now),
    refused: (retryAfterMs, now) => {
      quietUntil = Math.max(quietUntil, now + retryAfterMs);
    },
  };
}
