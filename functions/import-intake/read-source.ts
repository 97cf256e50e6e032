import { Readable } from 'node:stream';
import { GetObjectCommand, S3ServiceException } from '@aws-sdk/client-s3';
import pLimit from 'p-limit';
import {
  beginReading,
  endReading,
  failImport,
  keepReading,
} from '../../shared/imports/change-state.ts';
import { writeChunkObject } from '../../shared/imports/chunk-objects.ts';
import { type ChunkRow, formatChunk, toChunkRow } from '../../shared/imports/csv/chunk-lines.ts';
import { columnIndex } from '../../shared/imports/csv/columns.ts';
import { delimiterSchema } from '../../shared/imports/csv/delimiter.ts';
import { encodingSchema } from '../../shared/imports/csv/encoding.ts';
import { type CsvReport, openCsv } from '../../shared/imports/csv/read-csv.ts';
import { CsvRefused } from '../../shared/imports/csv/refused.ts';
import type { Failure, ImportItem } from '../../shared/imports/import-item.ts';
import { importOfSource } from '../../shared/imports/import-objects.ts';
import { writeReport } from '../../shared/imports/import-report.ts';
import { readImport } from '../../shared/imports/imports-table.ts';
import { estimateImport } from '../../shared/summaries/estimate-import.ts';
import type { Desk } from './desk.ts';
import { sendAll } from './send-all.ts';

export type ReadOutcome =
  | { kind: 'read'; rows: number; state: ImportItem['state'] }
  | { kind: 'refused'; failure: Failure }
  | { kind: 'ignored'; why: string };

/** Chunk objects that are written at once: what bounds the memory besides the reader's. */
const WRITES_AT_ONCE = 16;
/** Milliseconds. The reaper takes a reading for dead that is silent for some of these. */
const SAY_EVERY = 10_000;
/** A file that is not read after so many beginnings never will be. */
const MOST_READS = 5;
/** Milliseconds that are kept for what follows the last row. */
const WIND_DOWN = 30_000;

/** Somebody has cancelled, or the file was replaced: nothing is left to say. */
class NotWantedError extends Error {}

/**
 * Reads a source in one pass: its rows become chunk objects while it streams by, and the total is
 * written before any message goes out. Reading again, after a crash, writes the same objects.
 */
export async function readSource(
  desk: Desk,
  { key, etag }: { key: string; etag: string },
  deadline: number,
): Promise<ReadOutcome> {
  const { table, now } = desk;
  const importId = importOfSource(key);
  if (importId === undefined) return { kind: 'ignored', why: 'no source of an import' };
  const item = await readImport(table, importId);
  if (item === undefined) return { kind: 'ignored', why: 'no such import' };
  // Read before, and killed while it was sending.
  if (item.sendingSince !== undefined) await sendAll(desk, importId);
  if (item.state !== 'awaiting-upload' && item.state !== 'reading') {
    return { kind: 'ignored', why: `the import is ${item.state}` };
  }
  const reads = item.reads + 1;
  if (reads > MOST_READS) {
    return await refuse(desk, importId, {
      code: 'reading-failed',
      message: `The file could not be read in ${MOST_READS} attempts: the log of import-intake says why.`,
    });
  }
  const begun = await beginReading(table, importId, { etag, reads, now: now() });
  if (!begun.changed) return { kind: 'ignored', why: `the import is ${begun.item?.state}` };
  try {
    const report = await readRows(desk, begun.item, { key, etag }, deadline);
    await writeReport(table, importId, report, item.ttl);
    return await finish(desk, begun.item, report);
  } catch (error) {
    if (error instanceof NotWantedError) return { kind: 'ignored', why: error.message };
    if (!(error instanceof CsvRefused)) throw error;
    const { code, message, problems } = error;
    return await refuse(desk, importId, { code, message, problems: [...problems] });
  }
}

async function readRows(
  desk: Desk,
  { importId, encoding, delimiter, idColumn, columns }: ImportItem,
  { key, etag }: { key: string; etag: string },
  deadline: number,
): Promise<CsvReport> {
  const { table, bucket, limits, chunkRows, now } = desk;
  const source = await open(desk, key, etag);
  const file = await openCsv(source, {
    limits,
    ...(encoding === undefined ? {} : { encoding: encodingSchema.parse(encoding) }),
    ...(delimiter === undefined ? {} : { delimiter: delimiterSchema.parse(delimiter) }),
  });
  for (const column of columns) columnIndex(file.header, column);
  const idIndex = idColumn === undefined ? undefined : columnIndex(file.header, idColumn);

  const limit = pLimit(WRITES_AT_ONCE);
  const writing = new Set<Promise<void>>();
  let failure: unknown;
  const write = async (chunk: number, rows: readonly ChunkRow[]): Promise<void> => {
    const text = formatChunk(rows);
    const written = limit(() => writeChunkObject(bucket, importId, chunk, text))
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => writing.delete(written));
    writing.add(written);
    // The source waits for S3, or the rows would pile up here.
    if (writing.size >= WRITES_AT_ONCE) await Promise.race(writing);
    if (failure !== undefined) throw failure;
  };

  let chunk = 0;
  let rows: ChunkRow[] = [];
  let said = now();
  for await (const batch of file.batches) {
    for (const row of batch) {
      rows.push(toChunkRow(row, idIndex));
      if (rows.length < chunkRows) continue;
      chunk += 1;
      await write(chunk, rows);
      rows = [];
    }
    if (now() - said > SAY_EVERY) {
      said = now();
      const kept = await keepReading(table, importId, said);
      if (!kept.changed) throw new NotWantedError(`the import is ${kept.item?.state}`);
    }
    if (now() > deadline - WIND_DOWN) throw tooSlow();
  }
  if (rows.length > 0) await write(chunk + 1, rows);
  await Promise.all(writing);
  if (failure !== undefined) throw failure;
  return file.report();
}

function tooSlow(): CsvRefused {
  const message = 'the file could not be read in the time that a function has: split it';
  return new CsvRefused('csv-too-large', [{ message }]);
}

async function open(
  { bucket }: Desk,
  key: string,
  etag: string,
): Promise<AsyncIterable<Uint8Array>> {
  try {
    const { Body: body } = await bucket.client.send(
      new GetObjectCommand({ Bucket: bucket.name, Key: key, IfMatch: `"${etag}"` }),
    );
    if (!(body instanceof Readable)) throw new Error(`S3 answered nothing for ${key}.`);
    return body;
  } catch (error) {
    if (!(error instanceof S3ServiceException)) throw error;
    const { name, $metadata: metadata } = error;
    // Another event tells of what replaced it.
    if (metadata.httpStatusCode === 412) throw new NotWantedError('the file was replaced');
    if (name !== 'NoSuchKey' && metadata.httpStatusCode !== 404) throw error;
    throw new CsvRefused('csv-empty', [{ message: 'the file was removed before it was read' }]);
  }
}

async function finish(desk: Desk, item: ImportItem, report: CsvReport): Promise<ReadOutcome> {
  const { table, chunkRows, prompt, prices, now } = desk;
  const { importId, instructions, columns, maxCostUsd } = item;
  const layout = { total: report.rows, chunkRows };
  const header = [...report.header];
  const seen = report.columns.filter(({ name }) => columns.length === 0 || columns.includes(name));
  const estimate = estimateImport(report.rows, seen, instructions, prompt, prices);
  // One that is held is looked at by somebody first, who sees the estimate.
  let { hold } = item;
  while (true) {
    if (!hold && maxCostUsd !== undefined && estimate.costUsd > maxCostUsd) {
      return await refuse(desk, importId, {
        code: 'over-budget',
        message: `The summaries may cost up to ${estimate.costUsd.toFixed(2)} USD, and maxCostUsd is ${maxCostUsd.toFixed(2)}.`,
      });
    }
    const ended = await endReading(table, importId, { layout, header, hold, now: now() });
    if (ended.changed) {
      if (!hold) await sendAll(desk, importId);
      return { kind: 'read', rows: report.rows, state: ended.item.state };
    }
    if (ended.item?.state !== 'reading') {
      return { kind: 'ignored', why: `the import is ${ended.item?.state}` };
    }
    // Somebody has changed their mind meanwhile.
    ({ hold } = ended.item);
  }
}

async function refuse(
  { table, now }: Desk,
  importId: string,
  failure: Failure,
): Promise<ReadOutcome> {
  await failImport(table, importId, { now: now(), failure });
  return { kind: 'refused', failure };
}
