import * as z from 'zod';

export const failureClassSchema = z.enum([
  'unsupported',
  'corrupt',
  'too-large',
  'missing',
  'transient',
]);

export type FailureClass = z.infer<typeof failureClassSchema>;

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/**
 * How long a recorded failure stands before a viewer's request may try again, in milliseconds.
 * What the bytes decide changes only with Glimpse itself; `too-large` also with the function's
 * memory. An upload never waits for any of these: a new source resets them.
 */
export const RETRY_AFTER = {
  unsupported: 7 * DAY,
  corrupt: 7 * DAY,
  'too-large': DAY,
  missing: 5 * MINUTE,
  transient: MINUTE,
} as const satisfies Record<FailureClass, number>;
