import { BusyError } from '../../shared/errors.ts';

const SECOND = 1000;
const LONGEST = 60 * SECOND;

/** Attempts that ask whether another worker is done before the end of its lease. */
const EARLY_LOOKS = 3;

/**
 * Milliseconds until a message is delivered again: 2, 4, 8 … 60 seconds, and up to half as much
 * again at random, so that what failed together does not come back together. Where another worker
 * has the image, it is most likely done in a moment; if not, it is dead, and its lease must end
 * before the message's receives do.
 */
export function retryDelay(error: unknown, attempt: number, now: number): number {
  const backoff = Math.min(2 ** attempt * SECOND, LONGEST) * (1 + Math.random() / 2);
  if (!(error instanceof BusyError)) return backoff;
  const rest = Math.max(error.until - now, 0) + SECOND;
  return attempt <= EARLY_LOOKS ? Math.min(backoff, rest) : rest;
}
