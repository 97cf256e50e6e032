import { Readable } from 'node:stream';
import { Upload } from '@aws-sdk/lib-storage';
import { readChunkObject, readWholeRow } from '../../shared/imports/chunk-objects.ts';
import { parseChunk } from '../../shared/imports/csv/chunk-lines.ts';
import { exportColumns } from '../../shared/imports/csv/export-columns.ts';
import { csvLines } from '../../shared/imports/csv/write-csv.ts';
import type { ImportItem } from '../../shared/imports/import-item.ts';
import { readImport, readRows } from '../../shared/imports/imports-table.ts';
import { chunksOf, pageOfChunk, rowsOfChunk } from '../../shared/imports/layout.ts';
import type { Desk } from './desk.ts';

/** Chunks that are read ahead. */
const AHEAD = 8;

/**
 * Writes the rows as a CSV: the columns as they came, also where workers have less of them, then summary, state and reason. Rows without
 * an outcome are `pending`, or `cancelled` where their import is.
 */
export async function writeExport(
  desk: Desk,
  { importId, key, onlyFailed }: { importId: string; key: string; onlyFailed: boolean },
): Promise<{ rows: number }> {
  const item = await readImport(desk.table, importId);
  if (item?.layout === undefined || item.header === undefined) return { rows: 0 };
  let rows = 0;
  async function* counted(batches: AsyncIterable<string[][]>): AsyncGenerator<string[][]> {
    for await (const batch of batches) {
      rows += batch.length;
      yield batch;
    }
  }
  const lines = csvLines(exportColumns(item.header), counted(batchesOf(desk, item, onlyFailed)));
  const upload = new Upload({
    client: desk.bucket.client,
    params: {
      Bucket: desk.bucket.name,
      Key: key,
      Body: Readable.from(lines),
      ContentType: 'text/csv; charset=utf-8',
      ContentDisposition: `attachment; filename*=UTF-8''${encodeURIComponent(fileName(item, onlyFailed))}`,
    },
  });
  await upload.done();
  return { rows };
}

function fileName({ name }: ImportItem, onlyFailed: boolean): string {
  return `${name.replace(/\.(csv|tsv|txt)$/i, '')}${onlyFailed ? ' failed' : ' summaries'}.csv`;
}

async function* batchesOf(
  desk: Desk,
  item: ImportItem,
  onlyFailed: boolean,
): AsyncGenerator<string[][]> {
  const { layout, pages } = item;
  if (layout === undefined) return;
  const wanted = (chunk: number) => !onlyFailed || pages[String(pageOfChunk(chunk))]?.failed !== 0;
  const chunks = Array.from({ length: chunksOf(layout) }, (_, index) => index + 1).filter(wanted);
  const ahead: Promise<ExportRow[]>[] = [];
  for (const [index] of chunks.entries()) {
    while (ahead.length < AHEAD && index + ahead.length < chunks.length) {
      const chunk = chunks[index + ahead.length];
      if (chunk === undefined) break;
      const batch = batchOf(desk, item, chunk, onlyFailed);
      // Whoever waits for it hears of its failure; until then it is not an unhandled one.
      batch.catch(() => {});
      ahead.push(batch);
    }
    yield* cellsOf(desk, item, (await ahead.shift()) ?? []);
  }
}

interface ExportRow {
  row: number;
  cells: readonly string[];
  isCut: boolean;
  added: readonly string[];
}

/** Rows that are long are read one at a time, when it is their turn: many would not fit into memory. */
async function* cellsOf(
  { bucket }: Desk,
  item: ImportItem,
  rows: readonly ExportRow[],
): AsyncGenerator<string[][]> {
  let batch: string[][] = [];
  for (const { row, cells, isCut, added } of rows) {
    if (!isCut) {
      batch.push([...cells, ...added]);
      continue;
    }
    yield batch;
    batch = [];
    yield [[...(await readWholeRow(bucket, item, row)), ...added]];
  }
  yield batch;
}

async function batchOf(
  { table, bucket }: Desk,
  item: ImportItem,
  chunk: number,
  onlyFailed: boolean,
): Promise<ExportRow[]> {
  const { importId, layout, state } = item;
  if (layout === undefined) return [];
  const [text, written] = await Promise.all([
    readChunkObject(bucket, item, chunk),
    readRows(table, importId, pageOfChunk(chunk), rowsOfChunk(layout, chunk)),
  ]);
  const outcomes = new Map(written.map((row) => [row.row, row]));
  const rest = state === 'cancelled' ? 'cancelled' : 'pending';
  return parseChunk(text)
    .filter(({ row }) => !onlyFailed || outcomes.get(row)?.state === 'failed')
    .map(({ row, cells, isCut = false }) => {
      const { summary = '', state: became = rest, reason = '' } = outcomes.get(row) ?? {};
      return { row, cells, isCut, added: [summary, became, reason] };
    });
}
