import type { AllowanceSettings, Mode } from './allowance-settings.ts';

/**
 * How an account's minute is laid out in time.
 *
 *   second      | 0                 | 1                 | 2                 |
 *   slots       | 0  1  2  3  4  5  | 0  1  2  3  4  5  | 0  1  2  3  4  5  |   R = 6 a second
 *   lane 1      |    ×              |    ×              |    ×              |
 *   frame       |<------------------------- 3 seconds --------------------->|
 *
 * Every second has as many slots as the account permits calls in it, evenly spaced. The slots of one
 * position make a lane. Lanes are taken for a frame: whoever has one may begin a call in each of its
 * slots. Interactive work has the first lanes, its share; the others are whoever's takes them.
 */
export interface Layout {
  /** Calls a minute, all lanes together. */
  readonly requestsPerMinute: number;
  /** Seconds after which the lanes' slots repeat: 1, or more where a second has but a few slots. */
  readonly windowSeconds: number;
  readonly frameMs: number;
  /** Lanes of each pool. */
  readonly lanes: Readonly<Record<Pool, number>>;
  /** Tokens that come with each slot; infinite where the account does not count them. */
  readonly tokensASlot: number;
}

/** Interactive work's share, and the rest. */
export type Pool = 'interactive' | 'common';

/** A time at which a call may begin, and the one at which it no longer may. Epoch milliseconds. */
export interface Slot {
  readonly at: number;
  readonly until: number;
}

/** With fewer lanes, nobody could have a share of them. */
const FEWEST_LANES = 8;
/** A minute has a whole number of windows, or the lanes of one across its end would not come out even. */
const WINDOWS = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60] as const;

// Of each second the calls begin between the first two of these, and at the latest at the third: they
// have to arrive within the same second by the provider's clock.
const FIRST_MS = 60;
const LAST_MS = 800;
const LATEST_MS = 930;

export function layOut(settings: AllowanceSettings): Layout {
  const { requestsPerMinute, tokensPerMinute, interactiveShare, frameSeconds, line } = settings;
  const wanted = (FEWEST_LANES * 60) / requestsPerMinute;
  const windowSeconds = WINDOWS.find((seconds) => seconds >= wanted) ?? 60;
  const windows = Math.max(2, Math.round(frameSeconds / windowSeconds));
  const all = Math.ceil((requestsPerMinute * windowSeconds) / 60);
  // A line of one mode alone has nobody to share with. Where there are two lanes, each has one.
  const interactive =
    line === 'shared' ? Math.min(Math.max(1, all - 1), Math.ceil(all * interactiveShare)) : 0;
  return {
    requestsPerMinute,
    windowSeconds,
    frameMs: windows * windowSeconds * 1000,
    lanes: { interactive, common: all - interactive },
    tokensASlot: tokensPerMinute === null ? Infinity : tokensPerMinute / requestsPerMinute,
  };
}

export function frameOf(layout: Layout, now: number): number {
  return Math.floor(now / layout.frameMs);
}

/**
 * The lanes that a claim for `asked` of a pool came to, given the pool's count after it. The count
 * also grows by what there was not: such lanes are nobody's.
 */
export function lanesOf(layout: Layout, pool: Pool, asked: number, countAfter: number): number[] {
  const first = pool === 'interactive' ? 0 : layout.lanes.interactive;
  const from = Math.max(0, countAfter - asked);
  const to = Math.min(countAfter, layout.lanes[pool]);
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => first + from + index);
}

/** How many lanes of each pool have slots, if only a part of the account may be used: the first. */
export function lanesWithin({ lanes }: Layout, part: number): Record<Pool, number> {
  const all = lanes.interactive + lanes.common;
  const there = Math.min(all, Math.max(1, Math.floor(all * part)));
  const interactive = Math.min(lanes.interactive, there);
  return { interactive, common: there - interactive };
}

/**
 * The slots of some lanes in a frame, in order. Where they are does not depend on the part: processes
 * that differ about it, or that change their mind, would use a second twice.
 * @param part of the account that may be used: the last lanes have none if it is less than 1.
 */
export function slotsOf(
  layout: Layout,
  frame: number,
  lanes: readonly number[],
  part: number,
): Slot[] {
  const { frameMs, windowSeconds, requestsPerMinute } = layout;
  const { interactive, common } = lanesWithin(layout, part);
  const mine = lanes.filter((lane) => lane < interactive + common).sort((a, b) => a - b);
  const start = Math.round((frame * frameMs) / 1000);
  const slots: Slot[] = [];
  // The lane of a second's first slot.
  let first = 0;
  for (let second = start; second < start + frameMs / 1000; second++) {
    if (second % windowSeconds === 0) first = 0;
    const count = slotsIn(second, requestsPerMinute);
    for (const lane of mine) {
      if (lane < first || lane >= first + count) continue;
      const offset = FIRST_MS + ((LAST_MS - FIRST_MS) * (lane - first + 0.5)) / count;
      slots.push({ at: second * 1000 + offset, until: second * 1000 + LATEST_MS });
    }
    first += count;
  }
  return slots;
}

/** How many calls may begin in a second: so many that each minute has exactly its number. */
export function slotsIn(second: number, perMinute: number): number {
  const of = second % 60;
  return Math.floor(((of + 1) * perMinute) / 60) - Math.floor((of * perMinute) / 60);
}

/** Where a process looks for lanes, first to last. */
export function poolsFor(mode: Mode, interactiveIsThere: boolean): readonly Pool[] {
  if (mode === 'interactive') return ['interactive', 'common'];
  return interactiveIsThere ? ['common'] : ['common', 'interactive'];
}
