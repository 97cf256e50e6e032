import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

export const EACH_MINUTE = { period: Duration.minutes(1) };

export interface AlarmProps {
  /** What it means, in one sentence without its stop. */
  means: string;
  metric: IMetric;
  /** It sounds above this. */
  threshold: number;
  /** Minutes above it that make it sound, of so many: one of three unless stated. */
  minutes?: number;
  of?: number;
}

/** An alarm of which docs/runbook.md has a section, under its own name. */
export function alarm(scope: Construct, id: string, props: AlarmProps): Alarm {
  const { means, metric, threshold, minutes = 1, of = 3 } = props;
  return new Alarm(scope, id, {
    alarmDescription: `${means}. What to do: docs/runbook.md#${alarmName(scope, id).toLowerCase()}`,
    metric,
    threshold,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    evaluationPeriods: of,
    datapointsToAlarm: minutes,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
}

/** `ThumbnailsWaitAlarm`: the logical name without CDK's hash, the heading of its section. */
function alarmName(scope: Construct, id: string): string {
  return [...scope.node.path.split('/').slice(1), id].join('');
}

/** Each alarm, when it begins and when it is over, to a topic that exists. */
export function tellOfAlarms(scope: Construct, topicArn: string): void {
  const tell = new SnsAction(Topic.fromTopicArn(scope, 'AlarmTopic', topicArn));
  for (const construct of scope.node.findAll()) {
    if (!(construct instanceof Alarm)) continue;
    construct.addAlarmAction(tell);
    construct.addOkAction(tell);
  }
}
