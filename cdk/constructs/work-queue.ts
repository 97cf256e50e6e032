import { Duration } from 'aws-cdk-lib';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
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
    props.worker.addEventSource(
      new SqsEventSource(this.queue, {
        batchSize: props.batchSize,
        // Pollers ignore reserved concurrency: without a bound of their own, throttled receives
        // would carry good messages to the dead-letter queue.
        maxConcurrency: props.maxConcurrency,
        reportBatchItemFailures: true,
      }),
    );
    props.failures.addEventSource(
      new SqsEventSource(deadLetters, {
        batchSize: 10,
        maxConcurrency: 2,
        reportBatchItemFailures: true,
      }),
    );
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
