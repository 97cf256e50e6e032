import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';

export const EACH_MINUTE = { period: Duration.minutes(1) };

/** Sounds when one minute of three is above the threshold. */
export function alarm(
  scope: Construct,
  id: string,
  metric: Metric,
  threshold: number,
  { alarmDescription }: { alarmDescription: string },
): void {
  new Alarm(scope, id, {
    alarmDescription,
    metric,
    threshold,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    evaluationPeriods: 3,
    datapointsToAlarm: 1,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
}

/** A count as a function publishes it. @param folder the function's. */
export function counted(metricName: string, folder: string): Metric {
  return new Metric({
    namespace: 'Glimpse',
    metricName,
    dimensionsMap: { service: folder },
    statistic: 'Sum',
    ...EACH_MINUTE,
  });
}
