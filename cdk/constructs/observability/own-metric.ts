import { Aws } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { DimensionsOf, MetricTable } from '../../../shared/metrics/definition.ts';
import { SUMMARY_METRICS } from '../../../shared/metrics/summaries.ts';
import { THUMBNAIL_METRICS } from '../../../shared/metrics/thumbnails.ts';
import { EACH_MINUTE } from '../alarm.ts';

export interface Reading {
  /** Such as `Sum`, `p95` or `PR(500:2000)`. */
  statistic?: string;
  label?: string;
  /** Which function's, where several emit it. */
  service?: string;
}

export const thumbnailMetric = readerOf(THUMBNAIL_METRICS);
export const summaryMetric = readerOf(SUMMARY_METRICS);

/** A metric as a function emits it: by the table that the function emits it by. */
function readerOf<const T extends MetricTable>(table: T) {
  return <N extends keyof T & string>(
    metricName: N,
    reading: Reading,
    ...dimensions: DimensionsOf<T[N]>
  ): Metric => {
    const services: readonly string[] = table[metricName]?.services ?? [];
    const { service = services[0], statistic = 'Sum', label } = reading;
    if (service === undefined || !services.includes(service)) {
      throw new Error(`Expected ${metricName} of one of ${services.join(', ')}, got ${service}.`);
    }
    const [others = {}]: [Record<string, string>?] = dimensions;
    return new Metric({
      namespace: Aws.STACK_NAME,
      metricName,
      dimensionsMap: { service, ...others },
      statistic,
      ...(label === undefined ? {} : { label }),
      ...EACH_MINUTE,
    });
  };
}
