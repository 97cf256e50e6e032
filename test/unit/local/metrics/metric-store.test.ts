import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMetricStore, type MetricName } from '../../../../local/metrics/metric-store.ts';
import { statisticOf } from '../../../../local/metrics/statistic.ts';

const MINUTE = 60_000;
const NOW = 1_800_000_000_000 - (1_800_000_000_000 % MINUTE);
const WAITS: MetricName = {
  namespace: 'Glimpse',
  name: 'MissToReady',
  dimensions: { service: 'thumbnail-worker' },
};
const store = () => createMetricStore(() => NOW);
const lastMinute = { from: NOW / 1000, steps: 1, period: 60 };

function measuredBy(values: number[], statistic: string): number | null | undefined {
  const metrics = store();
  metrics.put({ ...WAITS, at: NOW, values });
  return metrics.read(WAITS, statisticOf(statistic), lastMinute)[0];
}

test('statistics are those of CloudWatch, percentiles right to one per cent', () => {
  const values = Array.from({ length: 1000 }, (_, index) => index + 1);
  expect(measuredBy(values, 'Sum')).toBe(500_500);
  expect(measuredBy(values, 'Average')).toBe(500.5);
  expect(measuredBy(values, 'Minimum')).toBe(1);
  expect(measuredBy(values, 'Maximum')).toBe(1000);
  expect(measuredBy(values, 'SampleCount')).toBe(1000);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 99 }), (percent) => {
      const found = measuredBy(values, `p${percent}`) ?? 0;
      expect(Math.abs(found - percent * 10)).toBeLessThanOrEqual(percent * 10 * 0.01 + 1);
    }),
  );
});

test('a percentile rank leaves its lower bound out and takes its upper one in, and shares come to all', () => {
  const waits = [100, 450, 700, 1900, 3000, 9000, 20_000, 30_000];
  const shares = ['PR(:500)', 'PR(500:2000)', 'PR(2000:10000)', 'PR(10000:)'].map((each) =>
    measuredBy(waits, each),
  );
  expect(shares).toEqual([25, 25, 25, 25]);
  expect(measuredBy([0, 0, 5], 'PR(:1)')).toBeCloseTo(66.67, 1);
});

test('a statistic that is not known is an error that names it', () => {
  expect(() => statisticOf('TM(10%:90%)')).toThrow('the statistic TM(10%:90%)');
  expect(() => statisticOf('PR(:)')).toThrow('the statistic PR(:)');
});

describe('the store', () => {
  test('keeps minutes, merges them for longer periods, and has nothing where nothing was measured', () => {
    const metrics = store();
    metrics.put({ ...WAITS, at: NOW - 2 * MINUTE, values: [1, 2] });
    metrics.put({ ...WAITS, at: NOW + 59_999, values: [10] });
    const from = NOW / 1000 - 120;
    const sum = statisticOf('Sum');
    expect(metrics.read(WAITS, sum, { from, steps: 3, period: 60 })).toEqual([3, null, 10]);
    expect(metrics.read(WAITS, sum, { from, steps: 1, period: 180 })).toEqual([13]);
  });

  test('tells metrics apart by each dimension, in whatever order', () => {
    const metrics = store();
    const dimensions = { service: 'a', mode: 'bulk' };
    metrics.put({ ...WAITS, dimensions, at: NOW, values: [1] });
    const sum = statisticOf('Sum');
    const other = { ...WAITS, dimensions: { mode: 'bulk', service: 'a' } };
    expect(metrics.read(other, sum, lastMinute)).toEqual([1]);
    expect(metrics.read(WAITS, sum, lastMinute)).toEqual([null]);
    expect(metrics.names()).toHaveLength(1);
  });

  test('forgets what is older than three hours, and takes no more than so many metrics', () => {
    let now = NOW;
    const metrics = createMetricStore(() => now);
    metrics.put({ ...WAITS, at: now, values: [1] });
    now += 181 * MINUTE;
    metrics.put({ ...WAITS, at: NOW, values: [1] });
    metrics.put({ ...WAITS, at: now, values: [1] });
    expect(metrics.read(WAITS, statisticOf('Sum'), lastMinute)).toEqual([null]);
    for (let index = 0; index < 5100; index++) {
      metrics.put({ ...WAITS, dimensions: { gallery: String(index) }, at: now, values: [1] });
    }
    expect(metrics.names()).toHaveLength(5000);
  });
});
