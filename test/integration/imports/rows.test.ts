import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChunkItem } from '../../../shared/imports/chunk-item.ts';
import { pageOf } from '../../../shared/imports/close-page.ts';
import { type ImportItem, NO_TALLIES, type Page } from '../../../shared/imports/import-item.ts';
import { chunkKey, type ImportsTable, rowKey } from '../../../shared/imports/imports-table.ts';
import {
  CHUNKS_A_PAGE,
  chunkOfRow,
  chunksOfPage,
  type Layout,
  pageOfChunk,
  pagesOf,
  rowsOfChunk,
} from '../../../shared/imports/layout.ts';
import { listRows } from '../../../shared/imports/list-rows.ts';
import { readProgress } from '../../../shared/imports/read-progress.ts';
import { type Engines, type Process, startEngines } from '../engines.ts';

// Rows are written into the table as workers would leave them, in imports that are too long to be
// worked through here.

let engines: Engines;
let name: string;
beforeAll(async () => {
  engines = await startEngines();
  name = await engines.createImportsTable();
});
afterAll(() => engines.stop());

const tableOf = (process: Process): ImportsTable => ({ client: process.dynamo, name });

/** What a request may cost in queries. */
const MOST_QUERIES = 12;

type State = 'done' | 'failed';

/** Rows by their numbers, and chunks whose last row is written although they are not settled. */
interface Written {
  rows: Map<number, State>;
  unsettled?: (chunk: number) => boolean;
}

let imports = 0;

async function importOf(
  layout: Layout,
  { rows, unsettled = () => false }: Written,
  pages: Record<string, Page> = {},
): Promise<ImportItem & { chunks: ChunkItem[] }> {
  imports += 1;
  const importId = `rows${imports}`;
  const byChunk = new Map<number, Map<number, State>>();
  for (const [row, state] of rows) {
    const chunk = chunkOfRow(layout, row);
    byChunk.set(chunk, (byChunk.get(chunk) ?? new Map()).set(row, state));
  }
  const chunks = [...byChunk].map(([chunk, own]): ChunkItem => {
    const { first, last } = rowsOfChunk(layout, chunk);
    const settled = own.size === last - first + 1 && !unsettled(chunk);
    const count = (of: State) => [...own.values()].filter((state) => state === of).length;
    // Until it is settled, its counts lag behind its rows.
    const counts = settled ? { done: count('done'), failed: count('failed') } : {};
    return { ...NO_TALLIES, ...counts, chunk, round: 0, settled, resent: 0, touchedAt: 1 };
  });
  const items = [
    ...chunks.map((chunk) => ({
      ...chunkKey(importId, pageOfChunk(chunk.chunk), chunk.chunk),
      ...chunk,
    })),
    ...[...rows].map(([row, state]) => ({
      ...rowKey(importId, pageOfChunk(chunkOfRow(layout, row)), row),
      ...{ row, id: String(row), state, round: 0, inputTokens: 1, outputTokens: 1 },
    })),
  ];
  for (let from = 0; from < items.length; from += 25) {
    const batch = items.slice(from, from + 25).map((Item) => ({ PutRequest: { Item } }));
    await engines.dynamo.send(new BatchWriteCommand({ RequestItems: { [name]: batch } }));
  }
  return {
    importId,
    name: 'a.csv',
    mode: 'bulk',
    state: 'running',
    hold: false,
    round: 0,
    instructions: '',
    columns: [],
    layout,
    reads: 1,
    pages,
    createdAt: 1,
    uploadBy: 1,
    updatedAt: 1,
    ttl: 1,
    chunks,
  };
}

const page = (done: number, failed = 0): Page => ({
  ...NO_TALLIES,
  done,
  failed,
  chunksDone: CHUNKS_A_PAGE - Math.sign(failed),
  chunksFailed: Math.sign(failed),
});

/** All rows, by following the cursor as a page does, and how many requests that took. */
async function all(item: ImportItem, limit: number, state: State | undefined, from = 0) {
  const numbers: number[] = [];
  let requests = 0;
  let after: number | undefined = from;
  const process = engines.newProcess();
  while (after !== undefined) {
    requests += 1;
    process.calls.length = 0;
    const found = await listRows(tableOf(process), item, {
      after,
      limit,
      ...(state === undefined ? {} : { state }),
    });
    expect(process.calls.length).toBeLessThanOrEqual(MOST_QUERIES);
    expect(found.rows.length).toBeLessThanOrEqual(limit);
    if (found.next !== undefined) expect(found.next).toBeGreaterThan(after);
    numbers.push(...found.rows.map(({ row }) => row));
    after = found.next;
  }
  return { numbers, requests };
}

const plan = fc
  .record({ total: fc.integer({ min: 1, max: 700 }), chunkRows: fc.integer({ min: 1, max: 3 }) })
  .chain((layout) =>
    fc.record({
      layout: fc.constant(layout),
      rows: fc.uniqueArray(
        fc.tuple(
          fc.integer({ min: 1, max: layout.total }),
          fc.constantFrom<State>('done', 'done', 'failed'),
        ),
        { maxLength: 60, selector: ([row]) => row },
      ),
      unsettled: fc.func(fc.boolean()),
      limit: fc.integer({ min: 1, max: 40 }),
      from: fc.integer({ min: 0, max: 700 }),
      state: fc.constantFrom<State | undefined>(undefined, 'done', 'failed'),
    }),
  );

describe('rows are listed', () => {
  test('each that is written once and in order, through holes and whatever the page’s length', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ layout, rows, unsettled, limit, from, state }) => {
        const item = await importOf(layout, { rows: new Map(rows), unsettled });
        // Pages that have become full since: here, that nothing has failed is all they tell.
        for (let number = 1; number <= pagesOf(layout); number++) {
          const { first, last } = chunksOfPage(layout, number);
          const own = rows.filter(([row]) => {
            const chunk = chunkOfRow(layout, row);
            return first <= chunk && chunk <= last;
          });
          if (own.every(([, became]) => became === 'done')) item.pages[number] = page(own.length);
        }
        const { numbers } = await all(item, limit, state, from);
        const expected = rows
          .filter(([row, became]) => row > from && (state === undefined || became === state))
          .map(([row]) => row)
          .toSorted((a, b) => a - b);
        expect(numbers).toEqual(expected);
      }),
      { numRuns: 12 },
    );
  });

  test('of a long import without more queries than a request may cost', async () => {
    const layout = { total: 1_000_000, chunkRows: 50 };
    const item = await importOf(layout, { rows: new Map([[999_999, 'failed']]) });
    expect(await all(item, 100, undefined)).toEqual({
      numbers: [999_999],
      requests: Math.ceil(200 / MOST_QUERIES),
    });
    for (let number = 1; number < 200; number++) item.pages[number] = page(5000);
    // Pages that have no failures are not read for those.
    expect(await all(item, 100, 'failed')).toEqual({ numbers: [999_999], requests: 1 });
    expect(await all(item, 100, undefined, 995_000)).toEqual({ numbers: [999_999], requests: 1 });
  });

  test('none, before the file is read and behind its end', async () => {
    const { layout, ...unread } = await importOf({ total: 3, chunkRows: 2 }, { rows: new Map() });
    const process = engines.newProcess();
    const wish = { after: 0, limit: 10 };
    expect(await listRows(tableOf(process), unread, wish)).toEqual({ rows: [] });
    const read = { ...unread, ...(layout === undefined ? {} : { layout }) };
    expect(await listRows(tableOf(process), read, { ...wish, after: 3 })).toEqual({ rows: [] });
    expect(process.calls).toEqual([]);
  });
});

describe('progress', () => {
  async function progressOf(item: ImportItem) {
    const process = engines.newProcess();
    const { done, failed, chunksDone, chunksFailed } = await readProgress(
      tableOf(process),
      item,
      0,
    );
    return { done, failed, chunksDone, chunksFailed, queries: process.calls.length };
  }

  test('is the sum of full pages and of those that are worked on, in as many queries', async () => {
    const layout = { total: 2 * 100 * 2 + 90, chunkRows: 2 };
    const rows = new Map<number, State>([
      [201, 'done'],
      [202, 'failed'],
      [203, 'done'],
      [401, 'done'],
      [402, 'done'],
    ]);
    const item = await importOf(layout, { rows }, { 1: page(199, 1) });
    expect(await progressOf(item)).toEqual({
      done: 199 + 1 + 2,
      failed: 1 + 1,
      chunksDone: 99 + 1,
      chunksFailed: 1 + 1,
      queries: 2,
    });
  });

  test('of a long import asks for the pages that are worked on, and two behind them', async () => {
    const layout = { total: 1_000_000, chunkRows: 50 };
    const item = await importOf(layout, { rows: new Map() });
    expect((await progressOf(item)).queries).toBe(2);
    for (let number = 1; number <= 120; number++) item.pages[number] = page(5000);
    expect(await progressOf(item)).toMatchObject({ done: 600_000, queries: 2 });
    for (let number = 121; number <= 200; number++) item.pages[number] = page(5000);
    expect(await progressOf(item)).toMatchObject({ done: 1_000_000, queries: 0 });
  });

  test('counts what failed in an earlier round as not begun', async () => {
    const rows = new Map<number, State>([
      [1, 'failed'],
      [2, 'done'],
      [3, 'done'],
      [4, 'done'],
    ]);
    const item = await importOf({ total: 4, chunkRows: 2 }, { rows });
    expect(await progressOf(item)).toMatchObject({ done: 3, failed: 1, chunksFailed: 1 });
    expect(await progressOf({ ...item, round: 1 })).toMatchObject({
      done: 3,
      failed: 0,
      chunksDone: 1,
      chunksFailed: 0,
    });
    expect(pageOf(item.chunks, 1).failed).toBe(0);
  });
});
