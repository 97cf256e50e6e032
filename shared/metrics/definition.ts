// What Glimpse measures of itself, in tables: functions emit by them and dashboards and alarms read by
// them, so that no name, unit or dimension is written twice.

export interface MetricDefinition {
  readonly unit: 'Count' | 'Milliseconds';
  /** Folders of the functions that emit it: each is a value of the dimension `service`. */
  readonly services: readonly string[];
  /**
   * Dimensions besides `service`, with all their values. CloudWatch keeps, and bills, a metric for each
   * combination: what has no end, such as galleries and imports, is for logs.
   */
  readonly dimensions?: Readonly<Record<string, readonly string[]>>;
}

export type MetricTable = Readonly<Record<string, MetricDefinition>>;

/** The values that a metric is emitted with, beside `service`; nothing where there are none. */
export type DimensionsOf<D extends MetricDefinition> = D extends {
  readonly dimensions: infer Values extends Readonly<Record<string, readonly string[]>>;
}
  ? [{ readonly [K in keyof Values]: Values[K][number] }]
  : [];
