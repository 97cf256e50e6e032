import { expect, test } from 'vitest';
import { depthsAt, remember } from '../../../../web/fleet/depth-history.ts';
import { readFleet } from '../../../../web/fleet/fleet-view.ts';
import { told } from './told.ts';

const view = (depth: number) => {
  const { measured } = told() as { measured: object };
  const queues = { interactive: { depth: 0, inFlight: 0 }, bulk: { depth, inFlight: 0 } };
  return readFleet(told({ measured: { ...measured, queues } }));
};

test('a depth is that of the last look before, and at the end that of now', () => {
  let samples = remember([], view(40), 1_000_002_000);
  samples = remember(samples, view(30), 1_000_009_000);
  samples = remember(samples, view(20), 1_000_013_000);
  const times = [999_990, 1_000_000, 1_000_010, 1_000_020];
  expect(depthsAt(samples, times, 'bulk')).toEqual([null, null, 30, 20]);
  expect(depthsAt(samples, times, 'interactive')).toEqual([null, null, 0, 0]);
  expect(depthsAt([], times, 'bulk')).toEqual([null, null, null, null]);
});

test('what nobody looked at is not made up, but one look that is late is', () => {
  let samples = remember([], view(40), 1_000_000_000);
  samples = remember(samples, view(10), 1_000_060_000);
  const times = [0, 10, 20, 30, 40, 50, 60].map((ago) => 1_000_000 + ago);
  expect(depthsAt(samples, times, 'bulk')).toEqual([40, 40, 40, null, null, null, 10]);
});

test('looks are kept for the ten minutes that the charts show', () => {
  let samples = remember([], view(40), 1_000_000_000);
  for (let second = 5; second <= 700; second += 5) {
    samples = remember(samples, view(second), 1_000_000_000 + second * 1000);
  }
  expect(samples.length).toBe(120);
  expect(samples[0]?.at).toBe(1_000_105);
});
