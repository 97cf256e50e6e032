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
 * Sends a message an image, ten a request. What is looked at first is to be made first, and of requests
 * that are sent all at once the first may come last: that of a new client looks for its credentials
 * while the others overtake it. So the first goes alone, and all others at once after it: one round
 * trip more, where one after another would be eight for a page.
 *
 * SQS answers 200 and names the entries that it did not take: those are sent once more.
 *
 * @returns the images whose message was not taken.
 */
export async function sendRequests(queue: Queue, images: readonly string[]): Promise<string[]> {
  const [first = [], ...others] = chunk(images, BATCH);
  if (first.length === 0) return [];
  const left = await send(queue, first);
  const unsent = await Promise.all([
    sendLeft(queue, left),
    ...others.map(async (batch) => await sendLeft(queue, await send(queue, batch))),
  ]);
  return unsent.flat();
}

async function sendLeft(queue: Queue, left: readonly string[]): Promise<readonly string[]> {
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
