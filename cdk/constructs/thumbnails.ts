import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Config } from '../config-schema.ts';
import { alarm, EACH_MINUTE } from './alarm.ts';
import { notify, originalsBucket, thumbnailsBucket } from './buckets.ts';
import { GlimpseFunction } from './glimpse-function.ts';
import { thumbnailMetric } from './observability/own-metric.ts';
import { output } from './output.ts';
import { WorkQueue } from './work-queue.ts';

const WORKER_TIMEOUT = Duration.seconds(60);
const FAILURES_TIMEOUT = Duration.seconds(30);

/** Age of the oldest message of a viewer from which on somebody is woken. */
export const WAIT_SECONDS = 60;
/** Of the slowest twentieth of the viewers who met a cold image. */
export const SLOW_MS = 10_000;

/** Everything that turns an original into thumbnails. */
export class Thumbnails extends Construct {
  readonly originals: IBucket;
  readonly thumbnails: IBucket;
  readonly images: Table;
  readonly queues: Readonly<Record<'onDemand' | 'eager', Queue>>;
  readonly worker: GlimpseFunction;
  readonly failures: GlimpseFunction;

  constructor(scope: Construct, id: string, props: { config: Config; local: boolean }) {
    super(scope, id);
    const { config, local } = props;
    this.originals = originalsBucket(this, config);
    this.thumbnails = thumbnailsBucket(this, config);
    this.images = new Table(this, 'Images', {
      partitionKey: { name: 'gallery', type: AttributeType.STRING },
      sortKey: { name: 'name', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: 'ttl',
      removalPolicy: RemovalPolicy.RETAIN,
    });

    const worker = this.#worker(config, local);
    const failures = this.#failures(config, local);
    this.worker = worker;
    this.failures = failures;
    const reading = {
      worker,
      workerTimeout: WORKER_TIMEOUT,
      failures,
      failuresTimeout: FAILURES_TIMEOUT,
      whenGivenUp: 'Thumbnails were given up and not yet recorded as failed',
    };
    // A viewer's message goes alone, so that no picture waits behind another in its batch.
    const onDemand = new WorkQueue(this, 'OnDemand', {
      ...reading,
      batchSize: 1,
      maxConcurrency: config.concurrency.onDemand,
    });
    const eager = new WorkQueue(this, 'Eager', {
      ...reading,
      batchSize: 10,
      maxConcurrency: config.concurrency.eager,
    });
    this.queues = { onDemand: onDemand.queue, eager: eager.queue };
    notify(this, this.originals, eager.queue, ['s3:ObjectCreated:*', 's3:ObjectRemoved:*']);
    // A retry waits as long as its cause asks for, not for the queue's six minutes.
    for (const { variable, queue } of [
      { variable: 'ON_DEMAND_QUEUE_URL', queue: onDemand.queue },
      { variable: 'EAGER_QUEUE_URL', queue: eager.queue },
    ]) {
      worker.use({
        variable,
        value: queue.queueUrl,
        grants: [{ actions: ['sqs:ChangeMessageVisibility'], resources: [queue.queueArn] }],
      });
    }

    this.#alarms();

    // What the command line needs to know: `cdk deploy --outputs-file` writes them down.
    output(this, 'OriginalsBucket', this.originals.bucketName);
    output(this, 'ThumbnailsBucket', this.thumbnails.bucketName);
    output(this, 'ImagesTable', this.images.tableName);
    output(this, 'OnDemandQueueUrl', onDemand.queue.queueUrl);
    output(this, 'EagerQueueUrl', eager.queue.queueUrl);
    output(this, 'Variants', JSON.stringify(config.variants));
  }

  #alarms(): void {
    const { worker, queues } = this;
    alarm(this, 'ThrottlesAlarm', {
      means: 'The thumbnail worker is throttled: its mappings are configured past its concurrency',
      metric: worker.metricThrottles(EACH_MINUTE),
      threshold: 0,
    });
    alarm(this, 'WaitAlarm', {
      means: 'Viewers wait more than a minute for thumbnails',
      metric: queues.onDemand.metricApproximateAgeOfOldestMessage(EACH_MINUTE),
      threshold: WAIT_SECONDS,
    });
    alarm(this, 'SlowAlarm', {
      means: 'One of twenty viewers who met a cold image waited more than ten seconds for it',
      metric: thumbnailMetric('MissToReady', { statistic: 'p95' }),
      threshold: SLOW_MS,
      minutes: 3,
      of: 5,
    });
    alarm(this, 'ErrorsAlarm', {
      means: 'Thumbnail workers crash, run out of memory or of time',
      metric: worker.metricErrors(EACH_MINUTE),
      threshold: 0,
      minutes: 2,
      of: 5,
    });
    alarm(this, 'UnsentAlarm', {
      means: 'The on-demand queue does not take the messages of the API: cold images stay cold',
      metric: thumbnailMetric('JobsUnsent', {}),
      threshold: 0,
      minutes: 2,
      of: 5,
    });
    alarm(this, 'GivenUpAlarm', {
      means: 'Images were given up after their last retry; the failures log names them',
      metric: thumbnailMetric('ImagesGivenUp', {}),
      threshold: 0,
    });
  }

  #worker(config: Config, local: boolean): GlimpseFunction {
    const { onDemand, eager, reserved } = config.concurrency;
    return new GlimpseFunction(this, 'Worker', {
      folder: 'thumbnail-worker',
      description: 'Makes the missing thumbnails of an image, with one decode',
      config,
      local,
      usesSharp: true,
      memoryMb: config.memoryMb.worker,
      timeout: WORKER_TIMEOUT,
      ...(reserved ? { reservedConcurrency: onDemand + eager } : {}),
    })
      .use({
        variable: 'IMAGES_TABLE',
        value: this.images.tableName,
        grants: [
          {
            actions: ['dynamodb:UpdateItem', 'dynamodb:PutItem', 'dynamodb:DeleteItem'],
            resources: [this.images.tableArn],
          },
        ],
      })
      .use({
        variable: 'ORIGINALS_BUCKET',
        value: this.originals.bucketName,
        grants: [
          { actions: ['s3:GetObject'], resources: [this.originals.arnForObjects('*')] },
          // Without it S3 answers 403 to the read of an object that is gone.
          { actions: ['s3:ListBucket'], resources: [this.originals.bucketArn] },
        ],
      })
      .use({
        variable: 'THUMBNAILS_BUCKET',
        value: this.thumbnails.bucketName,
        grants: [
          {
            actions: ['s3:PutObject', 's3:DeleteObject'],
            resources: [this.thumbnails.arnForObjects('*')],
          },
          { actions: ['s3:ListBucket'], resources: [this.thumbnails.bucketArn] },
        ],
      })
      .use({ variable: 'VARIANTS', value: JSON.stringify(config.variants), grants: [] })
      .use({ variable: 'MAX_BYTES', value: String(config.uploads.maxBytes), grants: [] });
  }

  #failures(config: Config, local: boolean): GlimpseFunction {
    return new GlimpseFunction(this, 'Failures', {
      folder: 'thumbnail-failures',
      description: 'Records on the image what the worker gave up',
      config,
      local,
      memoryMb: 256,
      timeout: FAILURES_TIMEOUT,
    }).use({
      variable: 'IMAGES_TABLE',
      value: this.images.tableName,
      grants: [
        {
          actions: ['dynamodb:UpdateItem', 'dynamodb:PutItem'],
          resources: [this.images.tableArn],
        },
      ],
    });
  }
}
