import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  frameOf,
  type Layout,
  lanesOf,
  lanesWithin,
  layOut,
  type Pool,
  poolsFor,
  type Slot,
  slotsIn,
  slotsOf,
} from '../../../../shared/fleet/lanes.ts';
import { SETTINGS } from './fleet.ts';

const settings = fc.record({
  line: fc.constantFrom('shared' as const, 'bulk' as const),
  requestsPerMinute: fc.oneof(
    fc.integer({ min: 1, max: 60 }),
    fc.integer({ min: 61, max: 3000 }),
    fc.constantFrom(3500, 5000, 9999),
  ),
  tokensPerMinute: fc.option(fc.integer({ min: 1, max: 10_000_000 })),
  interactiveShare: fc.integer({ min: 0, max: 90 }).map((percent) => percent / 100),
  frameSeconds: fc.integer({ min: 2, max: 30 }),
  reserve: fc.constant(0.1),
});

const frames = fc.integer({ min: 1, max: 100_000_000 });

const allLanes = ({ lanes }: Layout) =>
  Array.from({ length: lanes.interactive + lanes.common }, (_, lane) => lane);

/** The slots of all lanes for so many seconds, from a frame's beginning. */
function slotsFor(layout: Layout, frame: number, seconds: number, part = 1) {
  const count = Math.ceil((seconds * 1000) / layout.frameMs);
  return Array.from({ length: count }, (_, index) =>
    slotsOf(layout, frame + index, allLanes(layout), part),
  ).flat();
}

describe('slots', () => {
  test('of a minute are as many as the account permits calls, whichever minute it is', () => {
    fc.assert(
      fc.property(settings, frames, (given, frame) => {
        const layout = layOut(given);
        const slots = slotsFor(layout, frame, 180);
        const begins = (frame * layout.frameMs) / 60_000;
        const minute = Math.ceil(begins) * 60_000;
        const within = slots.filter(({ at }) => at >= minute && at < minute + 60_000);
        expect(within).toHaveLength(given.requestsPerMinute);
      }),
      { numRuns: 40 },
    );
  });

  test('of a second are as even as whole numbers can be', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.integer({ min: 0 }),
        (perMinute, at) => {
          const count = slotsIn(at, perMinute);
          expect(count).toBeGreaterThanOrEqual(Math.floor(perMinute / 60));
          expect(count).toBeLessThanOrEqual(Math.ceil(perMinute / 60));
        },
      ),
    );
  });

  test('of a window belong to one lane each, and are in order', () => {
    fc.assert(
      fc.property(settings, frames, (given, frame) => {
        const layout = layOut(given);
        const byLane = allLanes(layout).map((lane) => slotsOf(layout, frame, [lane], 1));
        const slots = slotsOf(layout, frame, allLanes(layout), 1);
        const times = slots.map(({ at }) => at);
        const sorted = byLane.flatMap((own) => own.map(({ at }) => at)).toSorted((a, b) => a - b);
        expect(sorted).toEqual(times);
        expect(new Set(times).size).toBe(times.length);
        const windows = layout.frameMs / 1000 / layout.windowSeconds;
        expect(Math.max(...byLane.map((own) => own.length))).toBeLessThanOrEqual(windows);
      }),
      { numRuns: 40 },
    );
  });

  test('begin and end inside their own second and their own frame, away from its edges', () => {
    fc.assert(
      fc.property(settings, frames, (given, frame) => {
        const layout = layOut(given);
        const slots = slotsOf(layout, frame, allLanes(layout), 1);
        const isInside = ({ at, until }: Slot) =>
          frameOf(layout, at) === frame &&
          at % 1000 >= 50 &&
          until > at + 100 &&
          Math.floor(until / 1000) === Math.floor(at / 1000) &&
          until % 1000 <= 950;
        expect(slots.filter((slot) => !isInside(slot))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  test('of a second spread over it', () => {
    const slots = slotsOf(layOut({ ...SETTINGS, requestsPerMinute: 600 }), 1, [0, 4, 9], 1);
    expect(slots.slice(0, 3).map(({ at }) => at % 1000)).toEqual([97, 393, 763]);
  });

  test('for a part of the account are those of the first lanes, where they were', () => {
    fc.assert(
      fc.property(
        settings,
        frames,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (given, frame, part) => {
          const layout = layOut(given);
          const all = allLanes(layout);
          const { interactive, common } = lanesWithin(layout, part);
          expect(interactive + common).toBe(Math.max(1, Math.floor(all.length * part)));
          expect(interactive).toBe(Math.min(layout.lanes.interactive, interactive + common));
          expect(slotsOf(layout, frame, all, part)).toEqual(
            slotsOf(layout, frame, all.slice(0, interactive + common), 1),
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  test('of a large account are laid out at once', () => {
    const layout = layOut({ ...SETTINGS, requestsPerMinute: 10_000_000, frameSeconds: 30 });
    expect(slotsOf(layout, 1, [0, 100_000, 166_666], 1)).toHaveLength(2 * 30 + 20);
  });
});

describe('lanes', () => {
  test('are eight at least where a minute has as many calls, in windows that a minute has a whole number of', () => {
    for (let requestsPerMinute = 1; requestsPerMinute <= 1000; requestsPerMinute++) {
      const layout = layOut({ ...SETTINGS, requestsPerMinute });
      expect(60 % layout.windowSeconds).toBe(0);
      expect(layout.frameMs % (layout.windowSeconds * 1000)).toBe(0);
      expect(layout.frameMs).toBeGreaterThanOrEqual(2000 * layout.windowSeconds);
      expect(allLanes(layout).length).toBeGreaterThanOrEqual(Math.min(8, requestsPerMinute));
    }
  });

  test('are shared as configured, rounded in favour of whoever watches, and one is left for each', () => {
    fc.assert(
      fc.property(settings, (given) => {
        const layout = layOut({ ...given, line: 'shared' });
        const { interactive, common } = layout.lanes;
        const all = interactive + common;
        const share = all * given.interactiveShare;
        if (all > 1) expect(common).toBeGreaterThan(0);
        if (all > 1 && given.interactiveShare > 0) expect(interactive).toBeGreaterThan(0);
        expect(interactive).toBeLessThanOrEqual(Math.ceil(share));
        expect(interactive).toBeGreaterThanOrEqual(Math.min(share, all - 1));
      }),
    );
  });

  test('of an account of one mode alone are not shared', () => {
    for (const line of ['bulk', 'interactive'] as const)
      expect(layOut({ ...SETTINGS, line }).lanes).toEqual({ interactive: 0, common: 30 });
  });

  test('bring the tokens of a minute together', () => {
    const layout = layOut({ ...SETTINGS, requestsPerMinute: 500, tokensPerMinute: 200_000 });
    expect(layout.tokensASlot * 500).toBe(200_000);
    expect(layOut(SETTINGS).tokensASlot).toBe(Infinity);
  });

  test('are granted once, and all of them, however the asks come and are repeated', () => {
    const asks = fc.array(
      fc.record({
        pool: fc.constantFrom<Pool>('interactive', 'common'),
        lanes: fc.integer({ min: 1, max: 40 }),
        // Its answer was lost, and it was asked again.
        repeated: fc.boolean(),
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(settings, asks, (given, all) => {
        const layout = layOut(given);
        const counts = { interactive: 0, common: 0 };
        const granted: number[] = [];
        let lost = false;
        for (const { pool, lanes, repeated } of all) {
          counts[pool] += lanes;
          if (repeated) counts[pool] += lanes;
          lost ||= repeated;
          granted.push(...lanesOf(layout, pool, lanes, counts[pool]));
        }
        expect(new Set(granted).size).toBe(granted.length);
        const there = allLanes(layout);
        for (const lane of granted) expect(there).toContain(lane);
        const { interactive, common } = layout.lanes;
        const least = Math.min(counts.interactive, interactive) + Math.min(counts.common, common);
        if (!lost) expect(granted).toHaveLength(least);
      }),
    );
  });

  test('of the share are the first, and never granted from the rest', () => {
    const layout = layOut(SETTINGS);
    expect(lanesOf(layout, 'interactive', 4, 11)).toEqual([7, 8]);
    expect(lanesOf(layout, 'common', 4, 4)).toEqual([9, 10, 11, 12]);
    expect(lanesOf(layout, 'common', 4, 23)).toEqual([28, 29]);
    expect(lanesOf(layout, 'common', 4, 25)).toEqual([]);
    // Of a count that is not there nothing is known.
    expect(lanesOf(layout, 'common', 4, 0)).toEqual([]);
  });
});

test('interactive work looks in its share first, bulk work there last, and not while it is wanted', () => {
  expect(poolsFor('interactive', true)).toEqual(['interactive', 'common']);
  expect(poolsFor('interactive', false)).toEqual(['interactive', 'common']);
  expect(poolsFor('bulk', false)).toEqual(['common', 'interactive']);
  expect(poolsFor('bulk', true)).toEqual(['common']);
});
