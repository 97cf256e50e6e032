import { setTimeout as sleep } from 'node:timers/promises';
import type { AwsJson } from '../engines/aws-json.ts';
import type { BucketPlan, QueuePlan } from '../template/stack.ts';
import type { Engine } from './engine.ts';
import type { Intent, Journal } from './journal.ts';
import { type CreatedObject, s3Event } from './s3-event.ts';

export interface Notifications {
  /** Notes what is about to happen; nothing if the bucket tells nobody. */
  intend(bucket: string, key: string, eventName: string): Intent | undefined;
  /** It happened: tells the queues. Settles when they know. */
  happened(intent: Intent | undefined, created?: CreatedObject): Promise<void>;
  /** It did not happen. */
  cancelled(intent: Intent | undefined): void;
  stop(): void;
}

export interface NotificationOptions {
  buckets: readonly BucketPlan[];
  queues: readonly QueuePlan[];
  sqs: AwsJson;
  journal: Journal;
}

export function createNotifications(options: NotificationOptions): Notifications {
  const { buckets, queues, sqs, journal } = options;
  let stopped = false;

  const queuesFor = (bucket: string, key: string, eventName: string): string[] => {
    const plan = buckets.find(({ name }) => name === bucket);
    return (plan?.notifications ?? [])
      .filter(({ event }) => matches(event, eventName))
      .filter(({ prefix, suffix }) => key.startsWith(prefix) && key.endsWith(suffix))
      .flatMap(({ queueArn }) => queues.find(({ arn }) => arn === queueArn)?.url ?? []);
  };

  return {
    intend(bucket, key, eventName) {
      if (queuesFor(bucket, key, eventName).length === 0) return undefined;
      return journal.open({ bucket, key, eventName });
    },
    async happened(intent, created) {
      if (intent === undefined) return;
      const body = JSON.stringify(s3Event(intent, created));
      for (const url of queuesFor(intent.bucket, intent.key, intent.eventName)) {
        await send(sqs, url, body, () => stopped);
      }
      // What a stop interrupted stays open, for the next start.
      if (!stopped) journal.close(intent);
    },
    cancelled(intent) {
      if (intent !== undefined) journal.close(intent);
    },
    stop() {
      stopped = true;
    },
  };
}

/** Sends what the last run may have left unsent. S3 itself may tell twice; a lost event is worse. */
export async function reconcile(
  leftOver: readonly Intent[],
  engine: Engine,
  notifications: Notifications,
): Promise<void> {
  for (const intent of leftOver) {
    const { bucket, key, eventName } = intent;
    const { status, headers } = await engine.call({ method: 'HEAD', bucket, key });
    const exists = status === 200;
    if (eventName.startsWith('ObjectCreated') !== exists) {
      notifications.cancelled(intent);
      continue;
    }
    const size = Number(headers['content-length']);
    const etag = headers.etag?.replaceAll('"', '') ?? '';
    await notifications.happened(intent, exists ? { size, etag } : undefined);
  }
}

function matches(configured: string, eventName: string): boolean {
  const wanted = configured.replace(/^s3:/, '');
  return wanted.endsWith(':*') ? eventName.startsWith(wanted.slice(0, -1)) : wanted === eventName;
}

async function send(
  sqs: AwsJson,
  url: string,
  body: string,
  stopped: () => boolean,
): Promise<void> {
  for (let waitMs = 50; !stopped(); waitMs = Math.min(2 * waitMs, 5000)) {
    try {
      await sqs('AmazonSQS.SendMessage', { QueueUrl: url, MessageBody: body });
      return;
    } catch {
      await sleep(waitMs);
    }
  }
}
