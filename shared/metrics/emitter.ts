import { Metrics } from '@aws-lambda-powertools/metrics';
import type { DimensionsOf, MetricTable } from './definition.ts';

/** Emits what a table defines, and nothing else: a line a set of dimensions, at an invocation's end. */
export interface Emitter<T extends MetricTable> {
  add<N extends keyof T & string>(name: N, value: number, ...dimensions: DimensionsOf<T[N]>): void;
  /** At once, as of a time that is past. @param time epoch milliseconds */
  addAt<N extends keyof T & string>(
    time: number,
    values: Readonly<Partial<Record<N, number>>>,
    ...dimensions: DimensionsOf<T[N]>
  ): void;
  hasStoredMetrics(): boolean;
  publishStoredMetrics(): void;
}

type Dimensions = Readonly<Record<string, string>>;

/** The service is that of the environment. */
export function createEmitter<const T extends MetricTable>(table: T): Emitter<T> {
  const open = (dimensions: Dimensions) => new Metrics({ defaultDimensions: { ...dimensions } });
  const sets = new Map<string, Metrics>();
  const unitOf = (name: string) => {
    const definition = table[name];
    if (definition === undefined) throw new Error(`There is no metric ${name}.`);
    return definition.unit;
  };
  return {
    add(name, value, ...[dimensions = {}]: [Dimensions?]) {
      const key = JSON.stringify(dimensions);
      const metrics = sets.get(key) ?? open(dimensions);
      sets.set(key, metrics);
      metrics.addMetric(name, unitOf(name), value);
    },
    addAt(
      time,
      values: Readonly<Record<string, number | undefined>>,
      ...[dimensions = {}]: [Dimensions?]
    ) {
      const metrics = open(dimensions);
      metrics.setTimestamp(time);
      for (const [name, value] of Object.entries(values)) {
        if (value !== undefined) metrics.addMetric(name, unitOf(name), value);
      }
      if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
    },
    hasStoredMetrics: () => [...sets.values()].some((metrics) => metrics.hasStoredMetrics()),
    publishStoredMetrics() {
      for (const metrics of sets.values()) {
        if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
      }
    },
  };
}
