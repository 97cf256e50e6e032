import { pageOf } from './close-page.ts';
import { type ImportItem, type Page, sum } from './import-item.ts';
import { type ImportsTable, readChunks } from './imports-table.ts';
import { pagesOf } from './layout.ts';

/**
 * Chunks are sent in order and done nearly so: behind so many pages on which nobody has begun there
 * is no page on which somebody has.
 */
const EMPTY_PAGES = 2;

/**
 * What an import has come to: the sums of its full pages, which it carries, and a Query for each page
 * that is being worked on, which are one or two.
 */
export async function readProgress(
  table: ImportsTable,
  { importId, layout, pages, round }: ImportItem,
): Promise<Page> {
  const found: Page[] = Object.values(pages);
  const count = layout === undefined ? 0 : pagesOf(layout);
  let empty = 0;
  for (let page = 1; page <= count && empty < EMPTY_PAGES; page++) {
    if (pages[String(page)] !== undefined) continue;
    const chunks = await readChunks(table, importId, page);
    empty = chunks.length === 0 ? empty + 1 : 0;
    found.push(pageOf(chunks, round));
  }
  return {
    ...sum(found),
    chunksDone: found.reduce((total, page) => total + page.chunksDone, 0),
    chunksFailed: found.reduce((total, page) => total + page.chunksFailed, 0),
  };
}
