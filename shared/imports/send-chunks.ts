import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { UnsentError } from '../errors.ts';
import { type ChunkWork, encodeChunkWork } from '../messages/chunk-work.ts';

export interface Queue {
  client: SQSClient;
  url: string;
}

/** SQS takes ten messages a request. */
const BATCH = 10;
const ROUNDS = 5;
/** Milliseconds before what was not taken is sent again; twice as long each time. */
const FIRST_WAIT = 100;
/** SQS's own limit of a delay, in seconds. */
const LONGEST_DELAY = 900;

/**
 * Sends a message a chunk, one request after another, so that an import begins with its first rows.
 * SQS answers 200 and names the entries that it did not take: those are sent again.
 *
 * @throws UnsentError if some are not taken after all
 */
export async function sendChunks(queue: Queue, works: readonly ChunkWork[]): Promise<void> {
  for (let first = 0; first < works.length; first += BATCH) {
    await sendBatch(queue, works.slice(first, first + BATCH));
  }
}

async function sendBatch({ client, url }: Queue, batch: readonly ChunkWork[]): Promise<void> {
  let left = batch;
  let reason = '';
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 0) await sleep(FIRST_WAIT * 2 ** (round - 1));
    const answer = await client.send(
      new SendMessageBatchCommand({
        QueueUrl: url,
        Entries: left.map((work, index) => ({
          Id: String(index),
          MessageBody: encodeChunkWork(work),
          // Queues are fair between groups: a large import does not starve the others.
          MessageGroupId: work.importId,
        })),
      }),
    );
    const failed = new Set((answer.Failed ?? []).map(({ Id: id }) => id));
    left = left.filter((_, index) => failed.has(String(index)));
    if (left.length === 0) return;
    reason = answer.Failed?.[0]?.Message ?? answer.Failed?.[0]?.Code ?? '';
  }
  throw new UnsentError(`${left.length} of ${batch.length} chunks were not taken: ${reason}`);
}

/**
 * Hands a chunk back, as a message of its own: one that was not acknowledged would have cost a
 * receive. Whoever acknowledges the first one after this has lost nothing if it dies in between.
 */
export async function sendAgain(
  { client, url }: Queue,
  work: ChunkWork,
  delayMs: number,
): Promise<void> {
  const seconds = Math.ceil(Math.max(0, delayMs) / 1000);
  await client.send(
    new SendMessageCommand({
      QueueUrl: url,
      MessageBody: encodeChunkWork(work),
      MessageGroupId: work.importId,
      DelaySeconds: Math.min(seconds, LONGEST_DELAY),
    }),
  );
}
