import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { UsageError } from '../usage-error.ts';

export interface DeadLetterQueue {
  url: string;
  /** As SQS counts them: about. */
  visible: number;
  /** Received by somebody, and neither removed nor given back. */
  inFlight: number;
}

const policySchema = z.object({ deadLetterTargetArn: z.string() });

/** @param url of the queue whose dead letters are meant. @throws UsageError where it keeps none. */
export async function findDeadLetters(sqs: SQSClient, url: string): Promise<DeadLetterQueue> {
  const own = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['RedrivePolicy'] }),
  );
  const policy = policySchema.safeParse(JSON.parse(own.Attributes?.RedrivePolicy ?? '{}'));
  if (!policy.success) {
    throw new UsageError(`Expected a queue that has dead letters, got ${url}, which has none.`);
  }
  const name = policy.data.deadLetterTargetArn.split(':').at(-1) ?? '';
  const { QueueUrl = '' } = await sqs.send(new GetQueueUrlCommand({ QueueName: name }));
  const asked = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return {
    url: QueueUrl,
    visible: Number(asked.Attributes?.ApproximateNumberOfMessages ?? 0),
    inFlight: Number(asked.Attributes?.ApproximateNumberOfMessagesNotVisible ?? 0),
  };
}

/** SQS's own limit. */
const BATCH = 10;

/** Seconds that a message is hidden while it is looked at or copied. */
const HIDDEN = 60;

/** Some of the dead letters, which are given back at once. */
export async function peek(sqs: SQSClient, { url }: DeadLetterQueue): Promise<Message[]> {
  const messages = await receive(sqs, url, BATCH);
  if (messages.length === 0) return messages;
  const Entries = messages.map(({ ReceiptHandle }, index) => ({
    Id: String(index),
    ReceiptHandle,
    VisibilityTimeout: 0,
  }));
  await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
  return messages;
}

export interface Moved {
  moved: number;
  /** Refused by the queue: they stay dead letters. */
  refused: number;
}

/**
 * Sends dead letters to their queue again, at most `most` of them, and tells how many after each
 * batch. Each is removed after it was sent: stopped in between it is there twice, which the readers of
 * every queue bear. Bounded by what was there at first, or one that fails at once would go round for ever.
 */
export async function* moveMessages(
  sqs: SQSClient,
  from: DeadLetterQueue,
  toUrl: string,
  { most, signal }: { most: number; signal: AbortSignal },
): AsyncGenerator<Moved> {
  const tally = { moved: 0, refused: 0 };
  while (!signal.aborted && tally.moved + tally.refused < most) {
    const left = most - tally.moved - tally.refused;
    const messages = await receive(sqs, from.url, Math.min(BATCH, left));
    if (messages.length === 0) return;
    const sent = await send(sqs, toUrl, messages);
    if (sent.length > 0) {
      await sqs.send(
        new DeleteMessageBatchCommand({
          QueueUrl: from.url,
          Entries: sent.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
        }),
      );
    }
    tally.moved += sent.length;
    tally.refused += messages.length - sent.length;
    yield { ...tally };
  }
}

async function receive(sqs: SQSClient, url: string, most: number): Promise<Message[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: most,
      VisibilityTimeout: HIDDEN,
      WaitTimeSeconds: 1,
      MessageSystemAttributeNames: ['MessageGroupId', 'SentTimestamp'],
    }),
  );
  return Messages;
}

/** @returns those that the queue has taken. */
async function send(sqs: SQSClient, url: string, messages: readonly Message[]): Promise<Message[]> {
  const { Successful = [] } = await sqs.send(
    new SendMessageBatchCommand({
      QueueUrl: url,
      Entries: messages.map(({ Body, Attributes }, index) => ({
        Id: String(index),
        MessageBody: Body,
        ...(Attributes?.MessageGroupId === undefined
          ? {}
          : { MessageGroupId: Attributes.MessageGroupId }),
      })),
    }),
  );
  return Successful.flatMap(({ Id }) => messages[Number(Id)] ?? []);
}
