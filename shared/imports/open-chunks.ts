import { isClosed } from './chunk-item.ts';
import type { ImportItem } from './import-item.ts';
import { type ImportsTable, readChunks } from './imports-table.ts';
import { chunksOfPage, pagesOf } from './layout.ts';

/** Pages that are read at once. */
export interface OpenPage {
  page: number;
  /** Chunks in which something is left to do in the import's round. */
  chunks: number[];
}

/** A Query for each page that is not full. */
export async function* openPages(
  table: ImportsTable,
  { importId, layout, pages, round }: ImportItem,
): AsyncGenerator<OpenPage> {
  if (layout === undefined) return;
  for (let page = 1; page <= pagesOf(layout); page++) {
    if (pages[String(page)] !== undefined) continue;
    const closed = new Set(
      (await readChunks(table, importId, page))
        .filter((chunk) => isClosed(chunk, round))
        .map(({ chunk }) => chunk),
    );
    const { first, last } = chunksOfPage(layout, page);
    const all = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    yield { page, chunks: all.filter((chunk) => !closed.has(chunk)) };
  }
}
