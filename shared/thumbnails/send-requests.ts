import {
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { encodeRequest } from '../messages/thumbnail-work.ts';

export interface Queue {
  client: SQSClient;
  url: string;
}

/** SQS takes ten messages a request. */
const BATCH = 10;

/**
 * Sends a message an image, ten a request, all requests at once. SQS answers 200 and names the
 * entries that it did not take: those are sent once more.
 *
 * @returns the images whose message was not taken.
 */
export async function sendRequests(queue: Queue, images: readonly string[]): Promise<string[]> {
  const batches = chunk(images, BATCH);
  const unsent = await Promise.all(batches.map((batch) => sendTwice(queue, batch)));
  return unsent.flat();
}

async function sendTwice(queue: Queue, batch: readonly string[]): Promise<readonly string[]> {
  const left = await send(queue, batch);
  return left.length === 0 ? left : await send(queue, left);
}

async function send({ client, url }: Queue, images: readonly string[]): Promise<string[]> {
  const entries = images.map(
    (image, index): SendMessageBatchRequestEntry => ({
      Id: String(index),
      MessageBody: encodeRequest(image),
    }),
  );
  try {
    const answer = await client.send(
      new SendMessageBatchCommand({ QueueUrl: url, Entries: entries }),
    );
    const failed = new Set((answer.Failed ?? []).map(({ Id: id }) => id));
    return images.filter((_, index) => failed.has(String(index)));
  } catch {
    // The SDK has tried again already; whoever holds the claims gives them back.
    return [...images];
  }
}

function chunk<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < items.length; start += size) {
    chunks.push(items.slice(start, start + size));
  }
  return chunks;
}
