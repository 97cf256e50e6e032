import type { ImportItem } from './import-item.ts';
import { type ImportsTable, readChunks, readRows } from './imports-table.ts';
import { chunkOfRow, chunksOfPage, pageOfChunk, pagesOf, rowsOfChunk } from './layout.ts';
import type { RowItem } from './row-item.ts';

/** Queries that one page of rows may cost: a caller goes on by the cursor. */
const QUERIES = 12;

export interface RowsPage {
  rows: RowItem[];
  /** The last row that was looked at, where there are more behind it. */
  next?: number;
}

/**
 * Rows that are written, in order, after a row. A chunk that nobody has begun has none, and one
 * without failures has none that failed, so neither is read.
 */
export async function listRows(
  table: ImportsTable,
  { importId, layout, pages }: ImportItem,
  { after, limit, state }: { after: number; limit: number; state?: 'done' | 'failed' },
): Promise<RowsPage> {
  if (layout === undefined || after >= layout.total) return { rows: [] };
  const rows: RowItem[] = [];
  let queries = 0;
  let seen = after;
  for (let page = pageOfChunk(chunkOfRow(layout, after + 1)); page <= pagesOf(layout); page++) {
    const { last: lastChunk } = chunksOfPage(layout, page);
    const { last: lastRow } = rowsOfChunk(layout, lastChunk);
    if (state === 'failed' && pages[String(page)]?.failed === 0) {
      seen = lastRow;
      continue;
    }
    const chunks = await readChunks(table, importId, page);
    queries += 1;
    for (const { chunk, done, failed, settled } of chunks) {
      const span = rowsOfChunk(layout, chunk);
      if (span.last <= after) continue;
      // Until it is settled its counts may lag behind its rows.
      if (settled && (state === 'done' ? done : state === 'failed' ? failed : 1) === 0) continue;
      if (queries >= QUERIES) return { rows, next: Math.max(seen, span.first - 1) };
      const first = Math.max(span.first, after + 1);
      const found = await readRows(table, importId, page, { first, last: span.last });
      queries += 1;
      for (const row of found) {
        if (state !== undefined && row.state !== state) continue;
        if (rows.length >= limit) return { rows, next: rows.at(-1)?.row ?? after };
        rows.push(row);
      }
      seen = span.last;
    }
    seen = Math.max(seen, lastRow);
    if (queries >= QUERIES && seen < layout.total) return { rows, next: seen };
  }
  return { rows };
}
