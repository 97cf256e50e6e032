import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { endSending, resumeImport } from '../../shared/imports/change-state.ts';
import { claimChunk } from '../../shared/imports/claim-chunk.ts';
import type { ImportItem } from '../../shared/imports/import-item.ts';
import { chunkObjectKey, sourceKey } from '../../shared/imports/import-objects.ts';
import { chunkKey, type ImportsTable, readImport } from '../../shared/imports/imports-table.ts';
import { pageOfChunk } from '../../shared/imports/layout.ts';
import { encodeChunkWork } from '../../shared/messages/chunk-work.ts';
import { encodeJob } from '../../shared/messages/import-job.ts';
import { encodeRequest } from '../../shared/messages/thumbnail-work.ts';
import type { Variant } from '../../shared/thumbnails/variant.ts';
import { claimForWork } from '../../shared/thumbnails/worker-claim.ts';
import { createImport, upload } from './imports.ts';
import { type Target, until } from './target.ts';

// What happens only when something has gone wrong: objects that are gone, workers that died in the
// middle, messages that were given up. Each is brought about by what such a failure leaves behind.

export interface Wreck extends Target {
  sqs: SQSClient;
  dynamo: DynamoDBDocumentClient;
  variants: readonly Variant[];
  importsBucket: string;
  tables: Record<'images' | 'imports', string>;
  queues: Readonly<Record<string, string>>;
}

type Mode = 'interactive' | 'bulk';
/** Longer ago than the reaper is patient. */
const LONG_AGO = 600_000;
/** Milliseconds in which another worker seems to have something. */
const HELD = 2000;
const CHUNK_ROWS = 50;

const tableOf = ({ dynamo, tables }: Wreck): ImportsTable => ({
  client: dynamo,
  name: tables.imports,
});

async function send({ sqs, queues }: Wreck, queue: string, body: string): Promise<void> {
  const QueueUrl = queues[queue];
  if (QueueUrl === undefined) throw new Error(`There is no queue ${queue}.`);
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
}

/** An import that was read and waits for somebody to look at it. */
async function held(wreck: Wreck, mode: Mode, rows: number, cell = 'a mug'): Promise<ImportItem> {
  const asked = { name: `${mode}.csv`, mode, idColumn: 'id', hold: true };
  const { importId, upload: form } = await createImport(wreck, asked);
  const lines = Array.from({ length: rows }, (_, index) => `GL-${index};${cell}`);
  await upload(form, ['id;name', ...lines].join('\n'));
  const item = await until(
    () => readImport(tableOf(wreck), importId),
    (found) => found?.state === 'paused',
  );
  if (item === undefined) throw new Error(`There is no import ${importId}.`);
  return item;
}

async function removeChunk(wreck: Wreck, item: ImportItem, chunk: number): Promise<void> {
  const { s3, importsBucket: Bucket } = wreck;
  const Key = chunkObjectKey(item, chunk);
  await s3.send(new DeleteObjectCommand({ Bucket, Key }));
}

/** Somebody resumed it long ago; whether the sending of its chunks was cut off. */
async function resumedLongAgo(wreck: Wreck, item: ImportItem, cutOff: boolean): Promise<void> {
  const now = Date.now() - LONG_AGO;
  await resumeImport(tableOf(wreck), item, { now, settled: 0 });
  if (!cutOff) await endSending(tableOf(wreck), item.importId, { since: now, now });
}

/** @param until when the claim of a worker that is no more lapses. @param resent how often already. */
async function leftBehind(
  wreck: Wreck,
  { importId, round }: ImportItem,
  chunk: number,
  lapses: number,
  resent = 0,
): Promise<void> {
  const table = tableOf(wreck);
  const name = { importId, chunk, round };
  await claimChunk(table, name, { worker: 'gone', until: lapses, now: Date.now() - LONG_AGO });
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: chunkKey(importId, pageOfChunk(chunk), chunk),
      UpdateExpression: 'SET #resent = :resent',
      ExpressionAttributeNames: { '#resent': 'resent' },
      ExpressionAttributeValues: { ':resent': resent },
    }),
  );
}

/**
 * The sending of its chunks was cut off; the first one's object is gone, and another worker seems to
 * have the second.
 */
export async function anImportIsCutOff(wreck: Wreck, mode: Mode): Promise<void> {
  const item = await held(wreck, mode, CHUNK_ROWS + 1);
  await removeChunk(wreck, item, 1);
  await resumedLongAgo(wreck, item, true);
  // Longer than it takes until the reaper has had the chunks sent.
  await leftBehind(wreck, item, 2, Date.now() + 5 * HELD);
}

/**
 * Workers died in the middle of its first chunk, once more than they may, and of its last; the one
 * between was given up.
 */
export async function workersOfAnImportDied(wreck: Wreck, mode: Mode): Promise<void> {
  const item = await held(wreck, mode, 2 * CHUNK_ROWS + 1);
  const { importId, round } = item;
  const lapsed = Date.now() - 1000;
  await leftBehind(wreck, item, 1, lapsed, 3);
  await leftBehind(wreck, item, 3, lapsed);
  await resumedLongAgo(wreck, item, false);
  await send(wreck, `${mode}DeadLetters`, encodeChunkWork({ importId, chunk: 2, round }));
}

/** A part of it is uploaded, and then what the rest is made of cannot be read. */
export async function aLargeExportFails(wreck: Wreck): Promise<void> {
  const item = await held(wreck, 'interactive', 6 * CHUNK_ROWS + 1, 'x'.repeat(24_000));
  await removeChunk(wreck, item, 7);
  await fetch(`${wreck.api}/imports/${item.importId}/export`, { redirect: 'manual' });
}

/** The file of the job is not there any more, and another job was given up. */
export async function jobsGoAstray(wreck: Wreck): Promise<void> {
  const { importId } = await createImport(wreck, { name: 'none.csv', mode: 'bulk' });
  await send(wreck, 'jobs', encodeJob({ kind: 'read', key: sourceKey(importId), etag: 'none' }));
  await send(wreck, 'jobsDeadLetters', encodeJob({ kind: 'send', importId }));
}

/** Another worker seems to have the image that both queues ask for, and a message about it was given up. */
export async function anImageIsHeld(wreck: Wreck): Promise<void> {
  const image = 'held/by another.jpg';
  const table = { client: wreck.dynamo, name: wreck.tables.images };
  const work = { kind: 'wanted', image } as const;
  const now = Date.now();
  await claimForWork(table, work, wreck.variants, { owner: 'gone', now, until: now + HELD });
  for (const queue of ['onDemand', 'eager', 'eagerDeadLetters']) {
    await send(wreck, queue, encodeRequest(image));
  }
}
