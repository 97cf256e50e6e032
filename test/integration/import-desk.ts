import { PutObjectCommand } from '@aws-sdk/client-s3';
import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { Desk } from '../../functions/import-intake/desk.ts';
import { readSource } from '../../functions/import-intake/read-source.ts';
import { claimChunk, settleChunk } from '../../shared/imports/claim-chunk.ts';
import { closePage } from '../../shared/imports/close-page.ts';
import { NO_TALLIES } from '../../shared/imports/import-item.ts';
import { sourceKey } from '../../shared/imports/import-objects.ts';
import { type ImportsTable, readImport } from '../../shared/imports/imports-table.ts';
import { lengthOf, pageOfChunk, rowsOfChunk } from '../../shared/imports/layout.ts';
import { writeRow } from '../../shared/imports/write-row.ts';
import { type ImportJob, parseJobs } from '../../shared/messages/import-job.ts';
import { type Engines, IMPORTS, type Process } from './engines.ts';
import type { Clock } from './workshop.ts';

// What stands around the import API: its table, bucket and queue, an intake that reads, and a worker
// that settles chunks without a model.

export const PRICES = { inputUsdPerMillion: 1, outputUsdPerMillion: 10 };

export interface Grounds {
  table: string;
  jobsUrl: string;
  chunksUrl: string;
}

export async function prepareGrounds(engines: Engines): Promise<Grounds> {
  return {
    table: await engines.createImportsTable(),
    jobsUrl: await engines.createQueue('jobs'),
    chunksUrl: await engines.createQueue('chunks'),
  };
}

export function deskOf(process: Process, { table, chunksUrl }: Grounds, clock: Clock): Desk {
  const queue = { client: process.sqs, url: chunksUrl };
  return {
    table: { client: process.dynamo, name: table },
    bucket: { client: process.s3, name: IMPORTS },
    queues: { interactive: queue, bulk: queue },
    limits: { maxBytes: 10_000, maxRows: 1000, maxColumns: 10, maxFieldCharacters: 1000 },
    chunkRows: 2,
    prompt: { inputCharacters: 4000, outputTokens: 100 },
    prices: PRICES,
    now: () => clock.now,
  };
}

/** Uploads a file as a browser would have, and reads it. */
export async function readFile(desk: Desk, importId: string, text: string): Promise<void> {
  const key = sourceKey(importId);
  const { client, name } = desk.bucket;
  const { ETag = '' } = await client.send(
    new PutObjectCommand({ Bucket: name, Key: key, Body: text }),
  );
  const etag = ETag.replaceAll('"', '');
  const outcome = await readSource(desk, { key, etag }, desk.now() + 600_000);
  if (outcome.kind !== 'read') throw new Error(JSON.stringify(outcome));
}

/** Does a chunk as a worker would. @param failing rows that fail */
export async function settle(
  { table, now }: Pick<Desk, 'table' | 'now'>,
  importId: string,
  chunk: number,
  failing: readonly number[] = [],
): Promise<void> {
  const item = await readImport(table, importId);
  if (item?.layout === undefined) throw new Error('it was not read');
  const { layout, round, ttl } = item;
  const name = { importId, chunk, round };
  const page = pageOfChunk(chunk);
  const claim = await claimChunk(table, name, {
    worker: 'w',
    until: now() + 60_000,
    now: now(),
  });
  if (claim.kind !== 'won') return;
  const span = rowsOfChunk(layout, chunk);
  const usage = { inputTokens: 100, outputTokens: 10 };
  for (let row = span.first; row <= span.last; row++) {
    const fails = failing.includes(row);
    await writeRow(
      table,
      { importId, page, ttl },
      {
        row,
        id: `id ${row}`,
        round,
        ...usage,
        ...(fails
          ? { state: 'failed', reason: 'refused: no' }
          : { state: 'done', summary: `summary ${row}` }),
      },
    );
  }
  const failed = failing.filter((row) => row >= span.first && row <= span.last).length;
  await settleChunk(table, name, {
    worker: 'w',
    now: now(),
    tallies: {
      ...NO_TALLIES,
      done: lengthOf(span) - failed,
      failed,
      inputTokens: lengthOf(span) * usage.inputTokens,
      outputTokens: lengthOf(span) * usage.outputTokens,
      gateMs: 5,
    },
  });
  await closePage(table, { importId, layout, round }, page, now());
}

/** All jobs that wait, which are then gone. */
export async function takeJobs({ sqs }: Engines, url: string): Promise<ImportJob[]> {
  const jobs: ImportJob[] = [];
  while (true) {
    const answer = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10 }),
    );
    if (answer.Messages === undefined || answer.Messages.length === 0) return jobs;
    for (const { Body: body = '', ReceiptHandle } of answer.Messages) {
      jobs.push(...parseJobs(body));
      await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
    }
  }
}

export const tableOf = (process: Process, { table }: Grounds): ImportsTable => ({
  client: process.dynamo,
  name: table,
});
