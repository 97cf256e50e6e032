/** What one bound came to. */
export interface Step {
  /** Calls in flight at most. */
  readonly bound: number;
  readonly answeredPerMinute: number;
  /** For their rate, or because there is no room. */
  readonly refusedPerMinute: number;
  /** Whatever else they failed for. */
  readonly failedPerMinute: number;
  /** The mean of the calls that were answered; undefined if none was. */
  readonly serviceMs: number | undefined;
}

/** So much more of a step still counts as an improvement. */
const IMPROVEMENT = 1.05;
/** The bound that is recommended reaches so much of the most that was seen. */
const ENOUGH = 0.97;
/** So many steps without an improvement end a sweep: one may have had bad luck. */
const FLAT_STEPS = 2;
/** More refused calls than this part of all, and the account is at its end. */
const MOST_REFUSED = 0.02;
const MOST_FAILED = 0.02;

export type End = 'flat' | 'refused' | 'failed' | 'most';
/** The next bound to try, or the end with its reason. */
export type Next = { bound: number } | { end: End };

/** @param most the largest bound that is tried. */
export function nextStep(steps: readonly Step[], first: number, most: number): Next {
  const last = steps.at(-1);
  if (last === undefined) return { bound: Math.min(first, most) };
  if (partOf(last, last.refusedPerMinute) > MOST_REFUSED) return { end: 'refused' };
  if (partOf(last, last.failedPerMinute) > MOST_FAILED) return { end: 'failed' };
  if (steps.length > FLAT_STEPS) {
    const before = mostOf(steps.slice(0, -FLAT_STEPS));
    if (mostOf(steps.slice(-FLAT_STEPS)) < before * IMPROVEMENT) return { end: 'flat' };
  }
  if (last.bound >= most) return { end: 'most' };
  return { bound: Math.min(most, Math.ceil(last.bound * 1.5)) };
}

/**
 * The smallest bound that does nearly the most; undefined if none had an answer. A step that was
 * refused is not among them while there is another: refused calls spend the account, too.
 */
export function bestOf<S extends Step>(steps: readonly S[]): S | undefined {
  const answered = steps.filter(({ answeredPerMinute }) => answeredPerMinute > 0);
  const clean = answered.filter((step) => partOf(step, step.refusedPerMinute) <= MOST_REFUSED);
  const good = clean.length > 0 ? clean : answered;
  const most = mostOf(good);
  return good.find(({ answeredPerMinute }) => answeredPerMinute >= most * ENOUGH);
}

function partOf({ answeredPerMinute, refusedPerMinute, failedPerMinute }: Step, some: number) {
  const all = answeredPerMinute + refusedPerMinute + failedPerMinute;
  return all === 0 ? 0 : some / all;
}

function mostOf(steps: readonly Step[]): number {
  return Math.max(0, ...steps.map(({ answeredPerMinute }) => answeredPerMinute));
}
