import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { openLine } from '../../shared/fleet/line.ts';
import {
  beginReading,
  endReading,
  endSending,
  resumeImport,
} from '../../shared/imports/change-state.ts';
import { writeChunkObject } from '../../shared/imports/chunk-objects.ts';
import { claimChunk, settleChunk } from '../../shared/imports/claim-chunk.ts';
import { formatChunk } from '../../shared/imports/csv/chunk-lines.ts';
import { type ImportItem, NO_TALLIES } from '../../shared/imports/import-item.ts';
import { sourceKey } from '../../shared/imports/import-objects.ts';
import { chunkKey, type ImportsTable } from '../../shared/imports/imports-table.ts';
import { pageOfChunk } from '../../shared/imports/layout.ts';
import { encodeChunkWork } from '../../shared/messages/chunk-work.ts';
import { encodeJob } from '../../shared/messages/import-job.ts';
import { encodeRequest } from '../../shared/messages/thumbnail-work.ts';
import type { Variant } from '../../shared/thumbnails/variant.ts';
import { claimForWork } from '../../shared/thumbnails/worker-claim.ts';
import { signedIn } from '../callers.ts';
import { createImport } from './imports.ts';
import type { Target } from './target.ts';

// What happens only when something has gone wrong: objects that are gone, workers that died in the
// middle, messages that were given up. Each is brought about by what such a failure leaves behind.

export interface Wreck extends Target {
  sqs: SQSClient;
  dynamo: DynamoDBDocumentClient;
  variants: readonly Variant[];
  importsBucket: string;
  tables: Record<'images' | 'imports' | 'fleet', string>;
  queues: Readonly<Record<string, string>>;
}

type Mode = 'interactive' | 'bulk';
/** Longer ago than the reaper is patient. */
const LONG_AGO = 600_000;
/** Milliseconds for which another worker seems to have something: longer than anybody waits here. */
const HELD = 60_000;

const tableOf = ({ dynamo, tables }: Wreck): ImportsTable => ({
  client: dynamo,
  name: tables.imports,
});

export async function send({ sqs, queues }: Wreck, queue: string, body: string): Promise<void> {
  const QueueUrl = queues[queue];
  if (QueueUrl === undefined) throw new Error(`There is no queue ${queue}.`);
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
}

/**
 * An import of rows of this text, a chunk each, that was read and waits for somebody to look at it.
 * Without a text, the chunk's object is gone.
 */
async function held(
  wreck: Wreck,
  mode: Mode,
  texts: readonly (string | undefined)[],
): Promise<ImportItem> {
  const table = tableOf(wreck);
  const { importId } = await createImport(wreck, { name: `${mode}.csv`, mode, hold: true });
  const source = { importId, etag: 'abc' };
  const bucket = { client: wreck.s3, name: wreck.importsBucket };
  for (const [index, text] of texts.entries()) {
    if (text === undefined) continue;
    const row = { row: index + 1, line: index + 2, id: `GL-${index}`, cells: [text] };
    await writeChunkObject(bucket, source, index + 1, formatChunk([row]));
  }
  await beginReading(table, importId, { ...source, reads: 1, now: Date.now() });
  const read = await endReading(table, importId, {
    ...source,
    layout: { total: texts.length, chunkRows: 1 },
    header: ['name'],
    hold: true,
    halt: undefined,
    now: Date.now(),
  });
  if (!read.changed) throw new Error(`Import ${importId} could not be read.`);
  return read.item;
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
  const item = await held(wreck, mode, [undefined, 'a mug']);
  await resumedLongAgo(wreck, item, true);
  await leftBehind(wreck, item, 2, Date.now() + HELD);
}

/**
 * Workers died in the middle of its first chunk, once more than they may, and of its last; the one
 * between was given up.
 */
export async function workersOfAnImportDied(wreck: Wreck, mode: Mode): Promise<void> {
  const item = await held(wreck, mode, ['a mug', 'a bowl', 'a stool']);
  const { importId, round } = item;
  const lapsed = Date.now() - 1000;
  await leftBehind(wreck, item, 1, lapsed, 3);
  await leftBehind(wreck, item, 3, lapsed);
  await resumedLongAgo(wreck, item, false);
  await send(wreck, `${mode}DeadLetters`, encodeChunkWork({ importId, chunk: 2, round }));
}

/** Its only row was written, and the worker died before it looked whether that was the last. */
export async function anImportIsLeftUnclosed(wreck: Wreck): Promise<void> {
  const table = tableOf(wreck);
  const item = await held(wreck, 'bulk', ['a mug']);
  await resumedLongAgo(wreck, item, false);
  const { importId, round } = item;
  const now = Date.now() - LONG_AGO;
  const name = { importId, chunk: 1, round };
  await claimChunk(table, name, { worker: 'gone', until: now + HELD, now });
  await settleChunk(table, name, { worker: 'gone', now, tallies: { ...NO_TALLIES, done: 1 } });
}

/** @returns its id; nobody could work on the only chunk that it has. */
export async function anImportIsGivenUp(wreck: Wreck): Promise<string> {
  const item = await held(wreck, 'bulk', ['a mug']);
  await resumedLongAgo(wreck, item, false);
  const { importId, round } = item;
  await send(wreck, 'bulkDeadLetters', encodeChunkWork({ importId, chunk: 1, round }));
  return importId;
}

/** Another worker was told by the provider to wait for longer than an invocation has. */
export async function theFleetMustWait({ dynamo, tables }: Wreck): Promise<void> {
  const fleet = { client: dynamo, name: tables.fleet };
  await openLine(fleet, 'shared').quiet(Date.now() + LONG_AGO * 2);
}

/** @returns the id of an import of one row that somebody resumed. */
export async function anImportIsResumed(wreck: Wreck, mode: Mode): Promise<string> {
  const { importId } = await held(wreck, mode, ['a mug']);
  const resumed = await fetch(`${wreck.api}/imports/${importId}/resume`, {
    method: 'POST',
    headers: signedIn(wreck),
    body: '{}',
  });
  if (!resumed.ok) throw new Error(`Resuming ${importId} was answered ${resumed.status}.`);
  return importId;
}

/** A part of it is uploaded, and then what the rest is made of is not there. */
export async function aLargeExportFails(wreck: Wreck): Promise<void> {
  const { importId } = await held(wreck, 'interactive', ['x'.repeat(6_000_000), undefined]);
  const asked = { headers: signedIn(wreck), redirect: 'manual' } as const;
  await fetch(`${wreck.api}/imports/${importId}/export`, asked);
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

/** One worker after another died with the image in hand. */
export async function anImageKillsItsWorkers(wreck: Wreck, image: string): Promise<void> {
  const table = { client: wreck.dynamo, name: wreck.tables.images };
  const work = { kind: 'wanted', image } as const;
  for (let deaths = 1; deaths <= 4; deaths++) {
    const now = Date.now() - LONG_AGO + deaths * 1000;
    await claimForWork(table, work, wreck.variants, { owner: 'gone', now, until: now + 500 });
  }
  await send(wreck, 'onDemand', encodeRequest(image));
}
