import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isOver, STATES } from '../../../../web/imports/import-view.ts';
import { nextListPoll, nextPoll } from '../../../../web/imports/next-poll.ts';

const quiet = { unchanged: 0, failures: 0, hidden: false };
const waits = (state: (typeof STATES)[number]) =>
  Array.from({ length: 12 }, (_, unchanged) => nextPoll({ ...quiet, state, unchanged }));

test('while rows are written it is looked at each second, and less often while none come', () => {
  expect(waits('running').slice(0, 5)).toEqual([1000, 1000, 1000, 1000, 1500]);
  expect(waits('running').at(-1)).toBe(10_000);
});

test('while it waits for a person it is looked at less often from the start', () => {
  expect(waits('paused')[0]).toBe(2000);
  expect(waits('paused').at(-1)).toBe(30_000);
});

test('what is over, hidden or unknown rests', () => {
  const rested = { ...quiet, unchanged: 3 };
  for (const state of STATES.filter(isOver)) {
    expect(nextPoll({ ...rested, state })).toBeUndefined();
    // What was under way is counted after a cancellation, and after nothing else.
    const wait = state === 'cancelled' ? 2000 : undefined;
    expect(nextPoll({ ...quiet, state })).toBe(wait);
  }
  expect(nextPoll({ ...quiet, state: 'running', hidden: true })).toBeUndefined();
  expect(nextPoll({ ...quiet, state: undefined })).toBeUndefined();
});

test('after failures it is asked ever less often, whatever its state', () => {
  const after = (failures: number) => nextPoll({ ...quiet, state: undefined, failures });
  expect([1, 2, 3, 4, 5, 60].map(after)).toEqual([2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test('a list is looked at as often as its liveliest import is worth, and rests when all are over', () => {
  expect(nextListPoll(['completed', 'paused', 'running'], quiet)).toBe(2000);
  expect(nextListPoll(['completed', 'paused'], { ...quiet, unchanged: 30 })).toBe(30_000);
  expect(nextListPoll(['completed', 'failed'], quiet)).toBeUndefined();
  expect(nextListPoll([], quiet)).toBeUndefined();
});

test('no wait is shorter than a second or longer than half a minute, nor shrinks as nothing comes', () => {
  const rhythm = fc.record({
    state: fc.constantFrom(...STATES),
    unchanged: fc.nat(100_000),
    failures: fc.nat(100_000),
    hidden: fc.boolean(),
  });
  fc.assert(
    fc.property(rhythm, (given) => {
      const wait = nextPoll(given);
      if (wait === undefined) return;
      expect(wait).toBeGreaterThanOrEqual(1000);
      expect(wait).toBeLessThanOrEqual(30_000);
      const later = nextPoll({ ...given, unchanged: given.unchanged + 1 });
      expect(later).toBeGreaterThanOrEqual(wait);
    }),
  );
});
