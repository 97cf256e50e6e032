import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AwsJson } from '../engines/aws-json.ts';
import type { FunctionPool, Invoked } from '../functions/pool.ts';
import type { MappingPlan, QueuePlan } from '../template/stack.ts';
import { doneMessages } from './batch-result.ts';
import { type Message, received, sqsEvent } from './sqs-event.ts';

export interface Mapping {
  stop(): Promise<void>;
}

export interface MappingOptions {
  plan: MappingPlan;
  queue: QueuePlan;
  /** The one queue that gives up its messages to this one, if there is one. */
  deadLetterSourceArn: string | undefined;
  pool: FunctionPool;
  /** In the name of the function's role. */
  sqs: AwsJson;
  /** Told of each batch before the function is. */
  called: () => void;
}

/** A long poll's longest, in seconds. */
const WAIT_SECONDS = 20;
/** ReceiveMessage gives at most ten. */
const RECEIVE_LIMIT = 10;

/** Lambda gives this much memory together with one core. */
const CORE_MB = 1769;

/**
 * As many as the cores can do something with. A function with less than a core is one that waits:
 * of those, twice as many as their shares of all cores would allow.
 */
export function pollersOf(maximumConcurrency: number, memoryMb: number, cores: number): number {
  const useful = memoryMb < CORE_MB ? Math.floor((2 * cores * CORE_MB) / memoryMb) : cores;
  return Math.min(maximumConcurrency, Math.max(2, useful));
}

/** Feeds a queue's messages to a function, from as many pollers as the mapping allows at once. */
export function startMapping(options: MappingOptions): Mapping {
  const stopping = new AbortController();
  const pollers = pollersOf(
    options.plan.maximumConcurrency,
    options.pool.plan.memoryMb,
    availableParallelism(),
  );
  const ended = Promise.all(Array.from({ length: pollers }, () => poll(options, stopping.signal)));
  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

async function poll(options: MappingOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const batch = await gather(options, signal);
      if (batch.length > 0) await deliver(options, batch, signal);
    } catch {
      // The queue did not answer: it is stopping, or busy for a moment. What was received and not
      // deleted comes back by itself.
      if (!signal.aborted) await sleep(500);
    }
  }
}

/** A batch: what is there at once, or what comes together within the window. */
async function gather(
  { plan, queue, sqs }: MappingOptions,
  signal: AbortSignal,
): Promise<Message[]> {
  const batch = await receive(sqs, queue.url, plan.batchSize, WAIT_SECONDS, signal);
  if (plan.windowSeconds === 0 && plan.batchSize <= RECEIVE_LIMIT) return batch;
  const end = Date.now() + plan.windowSeconds * 1000;
  while (batch.length > 0 && batch.length < plan.batchSize) {
    const seconds = Math.ceil((end - Date.now()) / 1000);
    const wanted = plan.batchSize - batch.length;
    const more = await receive(sqs, queue.url, wanted, Math.max(0, seconds), signal);
    batch.push(...more);
    if (seconds <= 0 || (more.length === 0 && Date.now() >= end)) break;
  }
  return batch;
}

async function receive(
  sqs: AwsJson,
  url: string,
  wanted: number,
  waitSeconds: number,
  signal: AbortSignal,
): Promise<Message[]> {
  const input = {
    QueueUrl: url,
    MaxNumberOfMessages: Math.min(wanted, RECEIVE_LIMIT),
    WaitTimeSeconds: waitSeconds,
    MessageSystemAttributeNames: ['All'],
    MessageAttributeNames: ['All'],
  };
  return received.parse(await sqs('AmazonSQS.ReceiveMessage', input, signal)).Messages;
}

async function deliver(
  options: MappingOptions,
  batch: readonly Message[],
  signal: AbortSignal,
): Promise<void> {
  const { plan, queue, deadLetterSourceArn, pool, sqs, called } = options;
  const event = JSON.stringify(sqsEvent(batch, queue.arn, deadLetterSourceArn));
  called();
  const visibleSeconds = Number(queue.attributes.VisibilityTimeout ?? 30);
  const invoked = await invokeUntil(pool, event, Date.now() + visibleSeconds * 1000, signal);
  const ids = batch.map((message) => message.MessageId);
  const done = new Set(doneMessages(invoked, ids, plan.reportsItemFailures));
  await remove(
    sqs,
    queue.url,
    batch.filter((message) => done.has(message.MessageId)),
  );
}

/** A throttled batch is tried again while it is still ours, as Lambda's pollers do. */
async function invokeUntil(
  pool: FunctionPool,
  event: string,
  end: number,
  signal: AbortSignal,
): Promise<Invoked> {
  for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, 5000)) {
    const invoked = await pool.invoke(event);
    if (invoked.kind !== 'throttled' || signal.aborted || Date.now() + waitMs >= end) {
      return invoked;
    }
    await sleep(waitMs, undefined, { signal }).catch(() => {});
  }
}

async function remove(sqs: AwsJson, url: string, messages: readonly Message[]): Promise<void> {
  for (let first = 0; first < messages.length; first += RECEIVE_LIMIT) {
    const entries = messages
      .slice(first, first + RECEIVE_LIMIT)
      .map((message, index) => ({ Id: String(index), ReceiptHandle: message.ReceiptHandle }));
    await sqs('AmazonSQS.DeleteMessageBatch', { QueueUrl: url, Entries: entries });
  }
}
