import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bestOf, nextStep, type Step } from '../../../cli/sweep/steps.ts';

/** An account of 6,000 calls a minute at 800 ms: 75 a minute for each call in flight, until it is used up. */
function step(bound: number, most = 6000): Step {
  return {
    bound,
    answeredPerMinute: Math.min(bound * 75, most),
    refusedPerMinute: 0,
    serviceMs: 800,
  };
}

function sweep(first: number, most: number, answer: (bound: number) => Step) {
  const steps: Step[] = [];
  while (steps.length < 100) {
    const next = nextStep(steps, first, most);
    if ('end' in next) return { steps, end: next.end };
    steps.push(answer(next.bound));
  }
  return expect.fail('A sweep without an end.');
}

test('a sweep ends when more calls in flight complete no more, and names the fewest that do', () => {
  const { steps, end } = sweep(4, 512, (bound) => step(bound));
  expect(end).toBe('flat');
  expect(steps.map(({ bound }) => bound)).toEqual([4, 6, 9, 14, 21, 32, 48, 72, 108, 162, 243]);
  expect(bestOf(steps)?.bound).toBe(108);
});

test('one slow step is bad luck, two are the end', () => {
  const { steps } = sweep(4, 512, (bound) => ({ ...step(bound === 14 ? 9 : bound), bound }));
  expect(bestOf(steps)?.bound).toBe(108);
  const { steps: short, end } = sweep(4, 512, (bound) => ({ ...step(Math.min(bound, 9)), bound }));
  expect(end).toBe('flat');
  expect(short.map(({ bound }) => bound)).toEqual([4, 6, 9, 14, 21]);
  expect(bestOf(short)?.bound).toBe(9);
});

test('a provider that refuses more than two in a hundred ends it', () => {
  const { steps, end } = sweep(4, 512, (bound) => ({
    ...step(bound),
    refusedPerMinute: bound > 20 ? 200 : 5,
  }));
  expect(end).toBe('refused');
  expect(steps.at(-1)?.bound).toBe(21);
});

test('the last bound is the one that was asked for', () => {
  const { steps, end } = sweep(4, 30, (bound) => step(bound));
  expect(end).toBe('most');
  expect(steps.map(({ bound }) => bound)).toEqual([4, 6, 9, 14, 21, 30]);
});

test('any sweep ends, never goes past its last bound and never back', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 50, max: 5000 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 10_000 })),
      (first, most, answers) => {
        const { steps } = sweep(first, most, (bound) => ({
          bound,
          answeredPerMinute: answers.next().value ?? 0,
          refusedPerMinute: 0,
          serviceMs: 800,
        }));
        const bounds = steps.map(({ bound }) => bound);
        expect(Math.max(...bounds)).toBeLessThanOrEqual(most);
        expect(bounds).toEqual([...new Set(bounds)].sort((a, b) => a - b));
      },
    ),
  );
});
