import { describe, expect, test } from 'vitest';
import { retryDelay } from '../../../../functions/thumbnail-worker/retry-delay.ts';
import { BusyError } from '../../../../shared/errors.ts';

describe('a message comes back', () => {
  test.each([
    [1, 2000, 3000],
    [2, 4000, 6000],
    [5, 32_000, 48_000],
    [8, 60_000, 90_000],
  ])('after attempt %i in %i to %i ms', (attempt, least, most) => {
    for (let sample = 0; sample < 50; sample++) {
      const delay = retryDelay(new Error('not well'), attempt, 0);
      expect(delay).toBeGreaterThanOrEqual(least);
      expect(delay).toBeLessThanOrEqual(most);
    }
  });

  test('soon while another worker may be done any moment, and then after its lease', () => {
    const busy = new BusyError('held', 50_000);
    expect(retryDelay(busy, 1, 0)).toBeLessThanOrEqual(3000);
    expect(retryDelay(busy, 4, 0)).toBe(51_000);
    expect(retryDelay(busy, 1, 49_900)).toBe(1100);
    expect(retryDelay(busy, 7, 60_000)).toBe(1000);
  });

  test('often enough to outlive the lease of a worker that was killed at once', () => {
    const busy = new BusyError('held', 60_000);
    let now = 0;
    let attempt = 0;
    while (now <= busy.until) now += retryDelay(busy, ++attempt, now);
    // The queue gives a message eight.
    expect(attempt).toBeLessThan(8);
  });
});
