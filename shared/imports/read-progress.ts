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
  /**
   * When workers began, which start some time after the import does. Undefined before they have, and once
   * a page is full: of its chunks that is not known any more, and what a start takes is little by then.
   */
  beganAt: number | undefined;
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
    beganAt: Object.keys(pages).length === 0 ? beganAtOf(open, startedAt ?? 0) : undefined,
    movedAt: Math.max(startedAt ?? 0, updatedAt, ...open.map(movedAtOf)),
    unheard: unheardOf(open, now),
  };
}

function beganAtOf(open: readonly ChunkItem[], startedAt: number): number | undefined {
  const claims = open.flatMap(({ claimedAt = 0 }) => (claimedAt >= startedAt ? [claimedAt] : []));
  return claims.length === 0 ? undefined : Math.min(...claims);
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
 * Where the earliest of those at work is. Chunks that rest, as their worker has died or they are to come
 * back later, do not hold it up while they are few; where they are many, as after a pause, those who
 * take them up again begin in any order, and it stays with the first that is not done.
 */
function frontOf(
  layout: Layout,
  full: readonly number[],
  open: readonly ChunkItem[],
  now: number,
): number {
  const rowOf = ({ chunk, done, failed }: ChunkItem) =>
    rowsOfChunk(layout, chunk).first - 1 + done + failed;
  const atWork = open.filter(({ until }) => until !== undefined && until > now);
  const front = Math.min(...atWork.map(rowOf));
  const resting = restingBefore(layout, full, open, front, now);
  const [first] = resting;
  if (first === undefined) return atWork.length > 0 ? front : layout.total;
  if (resting.length * 2 <= atWork.length) return front;
  const item = open.find(({ chunk }) => chunk === first);
  return item === undefined ? rowsOfChunk(layout, first).first - 1 : rowOf(item);
}

/** Chunks before a row that are neither done nor worked on, in order, as far as one has to know. */
function restingBefore(
  layout: Layout,
  full: readonly number[],
  open: readonly ChunkItem[],
  row: number,
  now: number,
): number[] {
  const there = new Map(open.map((item) => [item.chunk, item]));
  const resting: number[] = [];
  for (let page = 1; page <= pagesOf(layout); page++) {
    if (full.includes(page)) continue;
    const { first, last } = chunksOfPage(layout, page);
    for (let chunk = first; chunk <= last; chunk++) {
      if (rowsOfChunk(layout, chunk).first > row || resting.length > open.length) return resting;
      const item = there.get(chunk);
      const isBusy = item?.until !== undefined && item.until > now;
      if (item?.settled !== true && !isBusy) resting.push(chunk);
    }
  }
  return resting;
}
