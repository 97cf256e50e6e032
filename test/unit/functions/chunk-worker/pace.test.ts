import { expect, test } from 'vitest';
import { createPace } from '../../../../functions/chunk-worker/pace.ts';
import { retryDelay } from '../../../../shared/runtime/retry-delay.ts';

test('after a refusal nobody calls until the latest time that was named', () => {
  const pace = createPace();
  expect(pace.waitMs(1000)).toBe(0);
  pace.refused(500, 1000);
  pace.refused(100, 1100);
  expect([pace.waitMs(1100), pace.waitMs(1499), pace.waitMs(1500), pace.waitMs(9000)]).toEqual([
    400, 1, 0, 0,
  ]);
});

test('a message that threw comes back later each time, and not with all the others', () => {
  const least = [1, 2, 3, 6, 7, 20].map((attempt) => retryDelay(attempt, () => 0));
  expect(least).toEqual([2000, 4000, 8000, 64_000, 120_000, 120_000]);
  expect(retryDelay(1, () => 1)).toBe(3000);
});
