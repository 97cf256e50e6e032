/** What one bound came to. */
export interface Step {
  /** Calls in flight at most. */
  readonly bound: number;
  readonly answeredPerMinute: number;
  readonly refusedPerMinute: number;
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

/** The next bound to try, or the end with its reason. */
export type Next = { bound: number } | { end: 'flat' | 'refused' | 'most' };

/** @param most the largest bound that is tried. */
export function nextStep(steps: readonly Step[], first: number, most: number): Next {
  const last = steps.at(-1);
  if (last === undefined) return { bound: Math.min(first, most) };
  const { answeredPerMinute: answered, refusedPerMinute: refused } = last;
  if (refused > MOST_REFUSED * (answered + refused)) return { end: 'refused' };
  if (steps.length > FLAT_STEPS) {
    const before = mostOf(steps.slice(0, -FLAT_STEPS));
    if (mostOf(steps.slice(-FLAT_STEPS)) < before * IMPROVEMENT) return { end: 'flat' };
  }
  if (last.bound >= most) return { end: 'most' };
  return { bound: Math.min(most, Math.ceil(last.bound * 1.5)) };
}

/** The smallest bound that does nearly the most. */
export function bestOf<S extends Step>(steps: readonly S[]): S | undefined {
  const most = mostOf(steps);
  return steps.find(({ answeredPerMinute }) => answeredPerMinute >= most * ENOUGH);
}

function mostOf(steps: readonly Step[]): number {
  return Math.max(0, ...steps.map(({ answeredPerMinute }) => answeredPerMinute));
}
