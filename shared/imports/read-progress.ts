import type { ChunkItem } from './chunk-item.ts';
import { pageOf } from './close-page.ts';
import { type ImportItem, type Page, sum } from './import-item.ts';
import { type ImportsTable, readChunks } from './imports-table.ts';
import { chunksOfPage, type Layout, pagesOf, rowsOfChunk } from './layout.ts';

/**
 * Chunks are sent in order and done nearly so: behind so many pages on which nobody has begun there
 * is no page on which somebody has.
 */
const EMPTY_PAGES = 2;

/** Milliseconds without a renewal of its claim after which a worker may have ended: some five of them. */
const UNHEARD = 10_000;

export interface Progress extends Page {
  /** The row up to which nearly all are written: where the earliest of those at work is. */
  front: number;
  /** When a row was last written, as far as is known; where there is none yet, when it began. Epoch milliseconds. */
  movedAt: number;
  /** Chunks of workers that have not been heard of for some time, and when the last of their claims lapses. */
  unheard: { chunks: number; until: number } | undefined;
}

/**
 * What an import has come to: the sums of its full pages, which it carries, and a Query for each page
 * that is being worked on, which are one or two.
 */
export async function readProgress(
  table: ImportsTable,
  { importId, layout, pages, round, startedAt, updatedAt }: ImportItem,
  now: number,
): Promise<Progress> {
  const found: Page[] = Object.values(pages);
  const count = layout === undefined ? 0 : pagesOf(layout);
  const open: ChunkItem[] = [];
  let empty = 0;
  for (let page = 1; page <= count && empty < EMPTY_PAGES; page++) {
    if (pages[String(page)] !== undefined) continue;
    const chunks = await readChunks(table, importId, page);
    empty = chunks.length === 0 ? empty + 1 : 0;
    open.push(...chunks);
    found.push(pageOf(chunks, round));
  }
  return {
    ...sum(found),
    chunksDone: found.reduce((total, page) => total + page.chunksDone, 0),
    chunksFailed: found.reduce((total, page) => total + page.chunksFailed, 0),
    front: layout === undefined ? 0 : frontOf(layout, Object.keys(pages).map(Number), open, now),
    movedAt: Math.max(startedAt ?? 0, updatedAt, ...open.map(movedAtOf)),
    unheard: unheardOf(open, now),
  };
}

const movedAtOf = ({ settled, touchedAt, wroteAt = 0 }: ChunkItem): number =>
  settled ? Math.max(touchedAt, wroteAt) : wroteAt;

function unheardOf(open: readonly ChunkItem[], now: number): Progress['unheard'] {
  const ends = open.flatMap(({ until, touchedAt }) =>
    until !== undefined && touchedAt < now - UNHEARD ? [until] : [],
  );
  return ends.length === 0 ? undefined : { chunks: ends.length, until: Math.max(...ends) };
}

/**
 * Chunks that rest, as their worker has died or is to come back later, do not hold it up. Where
 * nobody is at work it is behind the last that somebody was.
 */
function frontOf(
  layout: Layout,
  full: readonly number[],
  open: readonly ChunkItem[],
  now: number,
): number {
  const rowOf = ({ chunk, settled, done, failed }: ChunkItem) => {
    const { first, last } = rowsOfChunk(layout, chunk);
    return settled ? last : first - 1 + done + failed;
  };
  const atWork = open.filter(({ until }) => until !== undefined && until > now);
  if (atWork.length > 0) return Math.min(...atWork.map(rowOf));
  const ends = full.map((page) => rowsOfChunk(layout, chunksOfPage(layout, page).last).last);
  return Math.max(0, ...ends, ...open.map(rowOf));
}
