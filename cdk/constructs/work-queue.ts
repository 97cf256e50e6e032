import { Duration, Names } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { visibilitySecondsFor } from '../../shared/fleet/numbers.ts';
import { alarm, EACH_MINUTE } from './alarm.ts';
import type { GlimpseFunction } from './glimpse-function.ts';

export interface WorkQueueProps {
  worker: GlimpseFunction;
  workerTimeout: Duration;
  batchSize: number;
  maxConcurrency: number;
  /** Reads what the worker could not do. */
  failures: GlimpseFunction;
  failuresTimeout: Duration;
  /** What it means that dead letters wait, for whom the alarm wakes. */
  whenGivenUp: string;
}

/** A retry waits seconds, a message whose worker was killed waits for its lease: eight are enough of both. */
const MAX_RECEIVES = 8;

const visibilityFor = (timeout: Duration) =>
  Duration.seconds(visibilitySecondsFor(timeout.toSeconds()));

/** A queue, its dead-letter queue, both their readers and the alarm that says something was given up. */
export class WorkQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, props: WorkQueueProps) {
    super(scope, id);
    const deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // A dead letter keeps the age it had on the queue that it comes from.
      retentionPeriod: Duration.days(14),
      visibilityTimeout: visibilityFor(props.failuresTimeout),
    });
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(4),
      visibilityTimeout: visibilityFor(props.workerTimeout),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_RECEIVES },
    });
    // Pollers ignore reserved concurrency: without a bound of their own, throttled receives would
    // carry good messages to the dead-letter queue.
    feed(props.worker, this.queue, props.batchSize, props.maxConcurrency);
    feed(props.failures, deadLetters, 10, 2);
    // A dead letter is read within a minute: one that stays could not be recorded.
    alarm(this, 'DeadLettersAlarm', {
      means: props.whenGivenUp,
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({
        ...EACH_MINUTE,
        statistic: 'Maximum',
      }),
      threshold: 0,
      minutes: 5,
      of: 5,
    });
  }
}

/** What Lambda's pollers call in the name of the function's role. CDK's own event source grants more. */
const POLLS = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];

function feed(fn: GlimpseFunction, queue: Queue, batchSize: number, maxConcurrency: number): void {
  fn.addToRolePolicy(new PolicyStatement({ actions: POLLS, resources: [queue.queueArn] }));
  fn.addEventSourceMapping(`From${Names.nodeUniqueId(queue.node)}`, {
    eventSourceArn: queue.queueArn,
    batchSize,
    maxConcurrency,
    reportBatchItemFailures: true,
  });
}
