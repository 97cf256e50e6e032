import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextPoll, nextTry, type Progress } from '../../../web/glimpse-image/next-poll.ts';

const middle = () => 0.5;

test('after the first poll it waits as long as the API says', () => {
  const progress = {
    polls: 1,
    waitedMs: 0,
    retryAfterMs: 500,
    settled: 0,
    waiting: 80,
    sinceMs: 0,
  };
  expect(nextPoll(progress, middle)).toBe(500);
});

test('without progress each wait is two and a half times the last, up to half a minute', () => {
  const waits: number[] = [];
  for (let polls = 1; polls < 9; polls += 1) {
    const waitedMs = waits.at(-1) ?? 0;
    const given = {
      polls,
      waitedMs,
      retryAfterMs: 500,
      settled: 0,
      waiting: 80,
      sinceMs: waitedMs,
    };
    waits.push(nextPoll(given, middle));
  }
  expect(waits).toEqual([500, 1250, 3125, 7812.5, 19_531.25, 30_000, 30_000, 30_000]);
});

test('the last images of a batch are not waited for longer than they take', () => {
  const progress = {
    polls: 6,
    waitedMs: 9000,
    retryAfterMs: 500,
    settled: 72,
    waiting: 8,
    sinceMs: 9000,
  };
  expect(nextPoll(progress, middle)).toBeCloseTo(1400);
});

const progress: fc.Arbitrary<Progress> = fc.record({
  polls: fc.nat(60),
  waitedMs: fc.nat(40_000),
  retryAfterMs: fc.integer({ min: 1, max: 10_000 }),
  settled: fc.nat(100),
  waiting: fc.nat(100),
  sinceMs: fc.nat(100_000),
});
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('a wait is never shorter than the API says, nor longer than half a minute, jitter apart', () => {
  fc.assert(
    fc.property(progress, chance, (given, random) => {
      const wait = nextPoll(given, () => random);
      expect(wait).toBeGreaterThanOrEqual(given.retryAfterMs * 0.85);
      expect(wait).toBeLessThanOrEqual(30_000 * 1.15);
    }),
  );
});

test('pages that opened at one moment do not ask at one moment', () => {
  const given = {
    polls: 3,
    waitedMs: 3125,
    retryAfterMs: 500,
    settled: 0,
    waiting: 80,
    sinceMs: 500,
  };
  expect(nextPoll(given, () => 0)).toBeCloseTo(6640.6, 0);
  expect(nextPoll(given, () => 0.999)).toBeGreaterThan(8950);
});

/** A cold page of 80 images that are made at a steady rate: what it asks, and how long each waits to be shown. */
function coldPage(imagesASecond: number, random: number) {
  // The gallery's own answer is the first request; the first image takes a second.
  const readyAt = Array.from({ length: 80 }, (_, index) => 1000 + (index * 1000) / imagesASecond);
  // The page waits a second for its first poll.
  let waitedMs = 1000 * (0.85 + 0.3 * random);
  let now = 0;
  let requests = 1;
  const late: number[] = [];
  for (let polls = 1; late.length < 80; polls += 1) {
    now += waitedMs;
    requests += 1;
    const news = readyAt.filter((at) => at <= now).slice(late.length);
    late.push(...news.map((at) => now - at));
    const waiting = 80 - late.length;
    const given = { polls, waitedMs, settled: news.length, waiting, sinceMs: waitedMs };
    waitedMs = nextPoll({ ...given, retryAfterMs: 500 }, () => random);
  }
  const meanMs = late.reduce((sum, each) => sum + each, 0) / 80;
  return { requests, meanMs, lastMs: late.at(-1) ?? 0 };
}

test('80 images that are made at a steady rate take fewer than 8 requests, from 3 to 40 a second', () => {
  fc.assert(
    fc.property(fc.integer({ min: 3, max: 40 }), chance, (imagesASecond, random) => {
      expect(coldPage(imagesASecond, random).requests).toBeLessThan(8);
    }),
  );
});

test('they are shown while one watches: a quarter of what all take after they were made on average, and the last a tenth, at most', () => {
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 16 }), chance, (imagesASecond, random) => {
      const { meanMs, lastMs } = coldPage(imagesASecond, random);
      const allMs = 1000 + 79_000 / imagesASecond;
      expect(meanMs / allMs).toBeLessThan(0.25);
      expect(lastMs / allMs).toBeLessThan(0.1);
    }),
  );
});

test('an API that does not answer is left alone for longer each time, up to half a minute', () => {
  const waits = [1, 2, 3, 4, 5, 6, 50].map((failures) => nextTry(failures, middle));
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test('one that is late by some seconds is seen some seconds later, not half a minute', () => {
  let waitedMs = 2000;
  let now = 10_000;
  // 79 of 80 are there; the last comes at 15 s.
  waitedMs = nextPoll(
    { polls: 5, waitedMs, retryAfterMs: 500, settled: 20, waiting: 1, sinceMs: 2000 },
    middle,
  );
  for (let polls = 6; now < 15_000; polls += 1) {
    now += waitedMs;
    const given = { polls, waitedMs, retryAfterMs: 500, settled: 0, waiting: 1, sinceMs: waitedMs };
    waitedMs = nextPoll(given, middle);
  }
  expect(now).toBeLessThan(23_000);
});
