import type { FleetView, Mode } from './fleet-view.ts';

// How many chunks waited, since somebody looks: a queue tells only how long it is now.

export interface DepthSample extends Readonly<Record<Mode, number>> {
  /** Epoch seconds. */
  readonly at: number;
}

const KEPT_SECONDS = 600;
/** Seconds between two looks at most, while somebody looks. */
const LOOKED_SECONDS = 20;

/** @param now epoch milliseconds */
export function remember(
  samples: readonly DepthSample[],
  { measured: { queues } }: FleetView,
  now: number,
): DepthSample[] {
  const at = now / 1000;
  const kept = samples.filter((sample) => sample.at > at - KEPT_SECONDS);
  return [...kept, { at, interactive: queues.interactive.depth, bulk: queues.bulk.depth }];
}

/**
 * The depth at each of these times, as far as somebody looked; at the last of them what it is now.
 *
 * @param times epoch seconds
 */
export function depthsAt(
  samples: readonly DepthSample[],
  times: readonly number[],
  mode: Mode,
): (number | null)[] {
  return times.map((time, index) => {
    const isLast = index === times.length - 1;
    const seen = isLast ? samples.at(-1) : samples.findLast(({ at }) => at <= time);
    if (seen === undefined || (!isLast && seen.at < time - LOOKED_SECONDS)) return null;
    return seen[mode];
  });
}
