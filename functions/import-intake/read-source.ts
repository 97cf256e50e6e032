import { Readable } from 'node:stream';
import { GetObjectCommand, S3ServiceException } from '@aws-sdk/client-s3';
import pLimit from 'p-limit';
import {
  beginReading,
  endReading,
  failImport,
  keepReading,
} from '../../shared/imports/change-state.ts';
import { writeChunkObject, writeWholeRow } from '../../shared/imports/chunk-objects.ts';
import { type ChunkRow, formatChunk, toChunkRow } from '../../shared/imports/csv/chunk-lines.ts';
import { columnIndex } from '../../shared/imports/csv/columns.ts';
import { delimiterSchema } from '../../shared/imports/csv/delimiter.ts';
import { encodingSchema } from '../../shared/imports/csv/encoding.ts';
import { type CsvFile, type CsvReport, openCsv } from '../../shared/imports/csv/read-csv.ts';
import { CsvRefused } from '../../shared/imports/csv/refused.ts';
import type { Failure, ImportItem } from '../../shared/imports/import-item.ts';
import { importOfSource } from '../../shared/imports/import-objects.ts';
import { writeRefusedReport, writeReport } from '../../shared/imports/import-report.ts';
import { readImport } from '../../shared/imports/imports-table.ts';
import { atMostUsd, usd } from '../../shared/summaries/estimate.ts';
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
      message: `The file could not be read in ${MOST_READS} attempts: ask whoever runs Glimpse, for the log of import-intake says why.`,
    });
  }
  // What it is refused for is of this file alone, once that is the one that is read.
  let named: string | undefined;
  try {
    // The bytes first: a message of a file that was replaced stops nobody who reads its successor.
    const source = await open(desk, key, etag);
    try {
      const begun = await beginReading(table, importId, { etag, reads, now: now() });
      if (!begun.changed) return { kind: 'ignored', why: `the import is ${begun.item?.state}` };
      named = etag;
      const { report, refusal } = await readRows(desk, begun.item, source, deadline);
      if (refusal !== undefined) {
        await writeRefusedReport(table, { importId, etag }, report, item.ttl);
        throw refusal;
      }
      await keep(desk, importId, etag);
      await writeReport(table, importId, report, item.ttl);
      return await finish(desk, begun.item, etag, report);
    } finally {
      // However the reading ends: nobody else takes what is left from the socket.
      source.destroy();
    }
  } catch (error) {
    if (error instanceof NotWantedError) return { kind: 'ignored', why: error.message };
    if (!(error instanceof CsvRefused)) throw error;
    const { code, message, problems } = error;
    return await refuse(desk, importId, { code, message, problems: [...problems] }, named);
  }
}

/** What was understood of the file; if it is refused behind its header, as far as it was read. */
async function readRows(
  desk: Desk,
  item: ImportItem,
  source: Readable,
  deadline: number,
): Promise<{ report: CsvReport; refusal?: CsvRefused }> {
  const { encoding, delimiter, idColumn } = item;
  const file = await openCsv(source, {
    limits: desk.limits,
    ...(encoding === undefined ? {} : { encoding: encodingSchema.parse(encoding) }),
    ...(delimiter === undefined ? {} : { delimiter: delimiterSchema.parse(delimiter) }),
    ...(idColumn === undefined ? {} : { idColumn }),
  });
  try {
    await writeChunks(desk, item, file, deadline);
    return { report: file.report() };
  } catch (error) {
    if (!(error instanceof CsvRefused)) throw error;
    return { report: file.report(), refusal: error };
  }
}

async function writeChunks(
  desk: Desk,
  { importId, etag = '', idColumn, columns }: ImportItem,
  file: CsvFile,
  deadline: number,
): Promise<void> {
  const { bucket, chunkRows, now } = desk;
  for (const column of columns) columnIndex(file.header, column);
  const idIndex = idColumn === undefined ? undefined : columnIndex(file.header, idColumn);

  const limit = pLimit(WRITES_AT_ONCE);
  const writing = new Set<Promise<void>>();
  let failure: unknown;
  const source = { importId, etag };
  const write = async (put: () => Promise<void>): Promise<void> => {
    const written = limit(put)
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => writing.delete(written));
    writing.add(written);
    // The source waits for S3, or the rows would pile up here.
    if (writing.size >= WRITES_AT_ONCE) await Promise.race(writing);
    if (failure !== undefined) throw failure;
  };

  const writeChunk = async (number: number, rows: readonly ChunkRow[]): Promise<void> => {
    const text = formatChunk(rows);
    await write(() => writeChunkObject(bucket, source, number, text));
  };

  let chunk = 0;
  let rows: ChunkRow[] = [];
  let said = now();
  for await (const batch of file.batches) {
    for (const row of batch) {
      const { whole } = row;
      if (whole !== undefined) await write(() => writeWholeRow(bucket, source, row.row, whole));
      rows.push(toChunkRow(row, idIndex));
      if (rows.length < chunkRows) continue;
      chunk += 1;
      await writeChunk(chunk, rows);
      rows = [];
    }
    if (now() - said > SAY_EVERY) {
      said = now();
      await keep(desk, importId, etag);
    }
    if (now() > deadline - WIND_DOWN) throw tooSlow();
  }
  if (rows.length > 0) await writeChunk(chunk + 1, rows);
  await Promise.all(writing);
  if (failure !== undefined) throw failure;
}

/** Says that the file is still read. @throws NotWantedError once nobody waits for it */
async function keep({ table, now }: Desk, importId: string, etag: string): Promise<void> {
  const kept = await keepReading(table, importId, { etag, now: now() });
  if (!kept.changed) throw new NotWantedError(whyNot(kept.item, etag));
}

function whyNot(item: ImportItem | undefined, etag: string): string {
  const replaced = item?.state === 'reading' && item.etag !== etag;
  return replaced ? 'the file was replaced' : `the import is ${item?.state}`;
}

function tooSlow(): CsvRefused {
  const message = 'the file could not be read in the time that a function has: split it';
  return new CsvRefused('csv-too-large', [{ message }]);
}

async function open({ bucket }: Desk, key: string, etag: string): Promise<Readable> {
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

async function finish(
  desk: Desk,
  item: ImportItem,
  etag: string,
  report: CsvReport,
): Promise<ReadOutcome> {
  const { table, chunkRows, prompt, prices, now } = desk;
  const { importId, instructions, columns, maxCostUsd } = item;
  const layout = { total: report.rows, chunkRows };
  const header = [...report.header];
  const seen = report.columns.filter(({ name }) => columns.length === 0 || columns.includes(name));
  const estimate = estimateImport(report.rows, seen, instructions, prompt, prices);
  // One that is held is looked at by somebody first, who sees the estimate.
  let { hold } = item;
  while (true) {
    const isDear = !hold && maxCostUsd !== undefined && estimate.costUsd > maxCostUsd;
    const halt = isDear ? overBudget(estimate.costUsd, maxCostUsd) : undefined;
    const ended = await endReading(table, importId, {
      etag,
      layout,
      header,
      hold,
      halt,
      now: now(),
    });
    if (ended.changed) {
      if (ended.item.state === 'running') await sendAll(desk, importId);
      return { kind: 'read', rows: report.rows, state: ended.item.state };
    }
    if (ended.item?.state !== 'reading' || ended.item.etag !== etag) {
      return { kind: 'ignored', why: whyNot(ended.item, etag) };
    }
    // Somebody has changed their mind meanwhile.
    ({ hold } = ended.item);
  }
}

/** The file is a good one: whoever allows more, or asks for less, goes on with it. */
function overBudget(cost: number, bound: number): Failure {
  return {
    code: 'over-budget',
    message: `The summaries may cost up to ${atMostUsd(cost)}, and its bound is ${usd(bound)}: raise the bound or choose fewer columns, then resume.`,
  };
}

async function refuse(
  { table, now }: Desk,
  importId: string,
  failure: Failure,
  etag?: string,
): Promise<ReadOutcome> {
  const refused = await failImport(table, importId, { now: now(), failure, etag });
  if (!refused.changed && etag !== undefined) {
    return { kind: 'ignored', why: whyNot(refused.item, etag) };
  }
  return { kind: 'refused', failure };
}
