import type { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { ChangeMessageVisibilityCommand, type SQSClient } from '@aws-sdk/client-sqs';
import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { MalformedMessageError } from '../errors.ts';
import { type Measured, publishMetrics } from './metrics.ts';

export interface Delivery {
  body: string;
  /** How often SQS has delivered this message, this time included. */
  attempt: number;
  /** When the function will be killed, in epoch milliseconds. */
  deadline: number;
}

export interface QueueStack {
  logger: Logger;
  metrics: Measured;
  /** A record's contract: return means done, throw means again. */
  process: (delivery: Delivery) => Promise<void>;
  /** What a log says a message is about: the names of its image or its import. Throws as `process` does. */
  about?: (body: string) => object;
  /** Told of each message that comes back after an error. */
  again?: () => void;
  /** Before the records of an invocation. */
  begin?: () => void;
  /** All records of a batch at once: they wait for the network, and share a bound of their own. */
  atOnce?: boolean;
  /** Milliseconds that a record may need: with less left it is handed back untouched. */
  needsMs: number;
  /** When a record that threw comes back; without it, when its queue's visibility timeout ends. */
  retry?: {
    sqs: () => SQSClient;
    queueUrl: (queueName: string) => string;
    delayMs: (error: unknown, attempt: number) => number;
  };
}

/** Characters of a message that a log repeats. */
const MOST_BODY = 1000;

/** SQS's own limit of a visibility timeout, in seconds. */
const LONGEST_VISIBILITY = 43_200;

/**
 * Records are processed one after another, unless they are told to be at once, and answered one by
 * one: an error, even `throw undefined`, fails its own record and no other, and nothing here turns an
 * error into success.
 */
export function queueHandler(stack: QueueStack) {
  return middy<SQSEvent, SQSBatchResponse>()
    .use(injectLambdaContext(stack.logger))
    .use(publishMetrics(stack.metrics))
    .handler(async (event, context) => {
      stack.begin?.();
      const failed: SQSRecord[] = [];
      const process = async (record: SQSRecord) => {
        if (!(await processRecord(stack, record, context))) failed.push(record);
      };
      if (stack.atOnce) await Promise.all(event.Records.map(process));
      else for (const record of event.Records) await process(record);
      return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    });
}

async function processRecord(
  stack: QueueStack,
  record: SQSRecord,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<boolean> {
  const remaining = context.getRemainingTimeInMillis();
  const attempt = Number(record.attributes.ApproximateReceiveCount);
  if (remaining < stack.needsMs) {
    await comeBack(stack, record, 0);
    return false;
  }
  try {
    await stack.process({ body: record.body, attempt, deadline: Date.now() + remaining });
    return true;
  } catch (error) {
    if (error instanceof MalformedMessageError) {
      // No retry makes it readable and no image can carry the failure: the log keeps it.
      stack.logger.error('a message was dropped', { error, body: record.body.slice(0, MOST_BODY) });
      return true;
    }
    stack.again?.();
    stack.logger.warn('a message will be tried again', {
      ...aboutOf(stack, record.body),
      error: describe(error),
      attempt,
    });
    await comeBack(stack, record, stack.retry?.delayMs(error, attempt));
    return false;
  }
}

/** Best effort: a message whose visibility cannot be changed comes back all the same, later. */
async function comeBack(
  { retry, logger, about: names }: QueueStack,
  record: SQSRecord,
  delayMs: number | undefined,
): Promise<void> {
  if (retry === undefined || delayMs === undefined) return;
  const queueName = record.eventSourceARN.split(':').at(-1) ?? '';
  try {
    await retry.sqs().send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: retry.queueUrl(queueName),
        ReceiptHandle: record.receiptHandle,
        VisibilityTimeout: Math.min(Math.ceil(Math.max(delayMs, 0) / 1000), LONGEST_VISIBILITY),
      }),
    );
  } catch (error) {
    const about = aboutOf({ about: names }, record.body);
    logger.warn('the visibility of a message could not be changed', {
      ...about,
      error: describe(error),
    });
  }
}

function aboutOf({ about }: { about?: QueueStack['about'] | undefined }, body: string): object {
  try {
    return about?.(body) ?? {};
  } catch {
    // It is unreadable, which is what is told of it anyway.
    return {};
  }
}

function describe(error: unknown): Error {
  return error instanceof Error ? error : new Error(`thrown: ${String(error)}`);
}
