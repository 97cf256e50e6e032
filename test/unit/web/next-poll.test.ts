import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextPoll, nextTry, type Progress } from '../../../web/glimpse-image/next-poll.ts';

const middle = () => 0.5;

test('a first poll waits as long as the API says', () => {
  const progress = { polls: 0, retryAfterMs: 500, settled: 0, waiting: 80, sinceMs: 0 };
  expect(nextPoll(progress, middle)).toBe(500);
});

test('without progress each wait is two and a half times the last, up to half a minute', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 40].map((polls) =>
    nextPoll({ polls, retryAfterMs: 500, settled: 0, waiting: 80, sinceMs: 500 }, middle),
  );
  expect(waits).toEqual([1250, 3125, 7812.5, 19_531.25, 30_000, 30_000, 30_000, 30_000, 30_000]);
});

test('the last images of a batch are not waited for longer than they take', () => {
  const progress = { polls: 6, retryAfterMs: 500, settled: 72, waiting: 8, sinceMs: 9000 };
  expect(nextPoll(progress, middle)).toBeCloseTo(1400);
});

const progress: fc.Arbitrary<Progress> = fc.record({
  polls: fc.nat(60),
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
  const given = { polls: 3, retryAfterMs: 500, settled: 0, waiting: 80, sinceMs: 500 };
  expect(nextPoll(given, () => 0)).toBeCloseTo(6640.6, 0);
  expect(nextPoll(given, () => 0.999)).toBeGreaterThan(8950);
});

test('80 images that are made at a steady rate take fewer than 8 requests, from 3 to 40 a second', () => {
  fc.assert(
    fc.property(fc.integer({ min: 3, max: 40 }), chance, (imagesASecond, random) => {
      // The gallery's own answer is the first request; the first image takes a second.
      const readyAt = (index: number) => 1000 + (index * 1000) / imagesASecond;
      let now = 0;
      let told = 0;
      let ready = 0;
      let requests = 1;
      for (let polls = 0, settled = 0; ready < 80; polls += 1) {
        const given = {
          polls,
          retryAfterMs: 500,
          settled,
          waiting: 80 - ready,
          sinceMs: now - told,
        };
        told = now;
        now += nextPoll(given, () => random);
        requests += 1;
        const here = Array.from({ length: 80 }, (_, index) => index).filter(
          (index) => readyAt(index) <= now,
        );
        settled = here.length - ready;
        ready = here.length;
      }
      expect(requests).toBeLessThan(8);
    }),
  );
});

test('an API that does not answer is left alone for longer each time, up to half a minute', () => {
  const waits = [1, 2, 3, 4, 5, 6, 50].map((failures) => nextTry(failures, middle));
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});
