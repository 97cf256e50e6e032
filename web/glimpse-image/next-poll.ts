// When to ask again. Asking too often costs the account money; asking too seldom leaves a viewer
// before a placeholder whose thumbnail is there.

/** However long something takes, a page looks at it this often. Milliseconds. */
const LONGEST = 30_000;

/** A wait is at most this many times the one before. */
const GROWTH = 2.5;

/** Polls that a batch should need while all goes well. */
const PLANNED_POLLS = 5;

/** An estimate that is short by a little costs another poll; jitter must not make it short. */
const MARGIN = 1.4;

/** A crowd that opened the page at one moment should not ask at one moment. */
const JITTER = 0.15;

export interface Progress {
  /** How often these images were asked for so far. */
  polls: number;
  /** What was waited before the last poll; 0 where it was the first. */
  waitedMs: number;
  /** What the API said to wait at least. */
  retryAfterMs: number;
  /** Of the images asked for together, how many were settled since the last news of this one. */
  settled: number;
  waiting: number;
  sinceMs: number;
}

/**
 * Milliseconds until the next poll: longer each time, but no longer than the rest will take at the rate
 * seen so far, spread over the polls that are left of those planned.
 */
export function nextPoll(
  { polls, waitedMs, retryAfterMs, settled, waiting, sinceMs }: Progress,
  random: () => number,
): number {
  const rest = settled === 0 ? Number.POSITIVE_INFINITY : (waiting * sinceMs) / settled;
  const share = (rest * MARGIN) / Math.max(1, PLANNED_POLLS - polls);
  return spread(Math.max(retryAfterMs, Math.min(waitedMs * GROWTH, share, LONGEST)), random);
}

/** Milliseconds to leave an API alone that has not answered `failures` times in a row. */
export function nextTry(failures: number, random: () => number): number {
  return spread(Math.min(1000 * 2 ** Math.min(failures - 1, 10), LONGEST), random);
}

function spread(delay: number, random: () => number): number {
  return delay * (1 + JITTER * (2 * random() - 1));
}
