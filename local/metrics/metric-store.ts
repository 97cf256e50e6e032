import { addValue, type Distribution, emptyDistribution, merged } from './distribution.ts';
import type { Statistic } from './statistic.ts';

/** What CloudWatch tells metrics apart by. */
export interface MetricName {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

export interface Sample extends MetricName {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly values: readonly number[];
}

/** Seconds; a whole number of minutes, as that is what is kept. */
export interface Grid {
  /** Epoch seconds, of the first step's begin. */
  readonly from: number;
  readonly steps: number;
  readonly period: number;
}

/** A value a step; null where nothing was measured. */
export type Series = readonly (number | null)[];

/** The metrics of the last hours, in memory. */
export interface MetricStore {
  put(sample: Sample): void;
  read(metric: MetricName, statistic: Statistic, grid: Grid): Series;
  /** Those of which something was measured. */
  names(): MetricName[];
}

const MINUTE = 60;
const KEPT_MINUTES = 180;
/** More would be dimensions without end, which cost so much on AWS that nobody should get used to them. */
const MOST_METRICS = 5000;

export function createMetricStore(now: () => number): MetricStore {
  const metrics = new Map<string, { name: MetricName; minutes: Map<number, Distribution> }>();
  return {
    put(sample) {
      const { namespace, name, dimensions, at, values } = sample;
      const key = keyOf(sample);
      let metric = metrics.get(key);
      if (metric === undefined) {
        if (metrics.size >= MOST_METRICS) return;
        metric = { name: { namespace, name, dimensions }, minutes: new Map() };
        metrics.set(key, metric);
      }
      const minute = Math.floor(at / 1000 / MINUTE);
      const oldest = Math.floor(now() / 1000 / MINUTE) - KEPT_MINUTES;
      if (minute < oldest) return;
      let distribution = metric.minutes.get(minute);
      if (distribution === undefined) {
        distribution = emptyDistribution();
        metric.minutes.set(minute, distribution);
        for (const kept of metric.minutes.keys()) if (kept < oldest) metric.minutes.delete(kept);
      }
      for (const value of values) addValue(distribution, value);
    },
    read(metric, statistic, { from, steps, period }) {
      const minutes = metrics.get(keyOf(metric))?.minutes;
      return Array.from({ length: steps }, (_, step) => {
        const first = (from + step * period) / MINUTE;
        const found = Array.from({ length: period / MINUTE }, (_each, index) =>
          minutes?.get(first + index),
        ).filter((each) => each !== undefined);
        const [only, another] = found;
        if (only === undefined) return null;
        return statistic(another === undefined ? only : merged(found));
      });
    },
    names: () => [...metrics.values()].map(({ name }) => name),
  };
}

function keyOf({ namespace, name, dimensions }: MetricName): string {
  const sorted = Object.entries(dimensions).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([namespace, name, sorted]);
}
