import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type ChunkItem, isClosed } from './chunk-item.ts';
import { type ImportItem, importItemSchema, type Page, sum } from './import-item.ts';
import { type ImportsTable, importKey, readChunks, refusedBy } from './imports-table.ts';
import { chunksOfPage, type Layout, lengthOf, pagesOf } from './layout.ts';

/** `completed` is answered to one caller alone: whoever wrote it. */
export type Closing = 'open' | 'full' | 'completed';

/**
 * Looks at a page after one of its chunks was settled. A full page is noted on the import by its
 * absolute sums, and the import is completed when all pages are.
 *
 *   chunk 7   settle ── read the page: 16 of 17 ─────────────────────────────▶ open
 *   chunk 12     settle ── read the page: 17 of 17 ── note ── complete ──────▶ completed
 *   killed         settle ─ ✗   redelivered: claim ✗ (closed) ── read … note ── complete
 *
 * Each reads after its own write and consistently, so whoever settles last sees a full page. What
 * dies in between is done by the redelivery, or by the reaper.
 */
export async function closePage(
  table: ImportsTable,
  { importId, layout, round }: { importId: string; layout: Layout; round: number },
  page: number,
  now: number,
): Promise<{ closing: Closing; page: Page; item?: ImportItem }> {
  const chunks = await readChunks(table, importId, page);
  const sums = pageOf(chunks, round);
  const full = chunks.filter((chunk) => isClosed(chunk, round)).length;
  if (full < lengthOf(chunksOfPage(layout, page))) return { closing: 'open', page: sums };
  const item = await notePage(table, importId, round, page, sums, now);
  if (item === undefined) return { closing: 'full', page: sums };
  const completed = await completeImport(table, item, now);
  return { closing: completed ? 'completed' : 'full', page: sums, item };
}

export function pageOf(chunks: readonly ChunkItem[], round: number): Page {
  const closed = chunks.filter((chunk) => isClosed(chunk, round));
  const chunksFailed = closed.filter(({ failed }) => failed > 0).length;
  // What failed in an earlier round is to be done in this one.
  const begun = chunks.map((chunk) => (chunk.round < round ? { ...chunk, failed: 0 } : chunk));
  return { ...sum(begun), chunksDone: closed.length - chunksFailed, chunksFailed };
}

/** Answers the import as it is then, or nothing where the import has gone on without this page. */
async function notePage(
  table: ImportsTable,
  importId: string,
  round: number,
  page: number,
  sums: Page,
  now: number,
): Promise<ImportItem | undefined> {
  try {
    const answer = await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: importKey(importId),
        UpdateExpression: 'SET #pages.#page = :sums, #updatedAt = :now',
        // a retry has begun meanwhile and counts anew, or somebody has cancelled
        ConditionExpression: '#round = :round AND #state IN (:running, :paused)',
        ExpressionAttributeNames: {
          '#pages': 'pages',
          '#page': String(page),
          '#updatedAt': 'updatedAt',
          '#round': 'round',
          '#state': 'state',
        },
        ExpressionAttributeValues: {
          ':sums': sums,
          ':now': now,
          ':round': round,
          ':running': 'running',
          ':paused': 'paused',
        },
        ReturnValues: 'ALL_NEW',
      }),
    );
    return importItemSchema.parse(answer.Attributes);
  } catch (error) {
    refusedBy(error, importItemSchema);
    return undefined;
  }
}

/** Ends an import whose pages are all full. Answers whether this caller did it. */
export async function completeImport(
  table: ImportsTable,
  { importId, layout, round, pages }: ImportItem,
  now: number,
): Promise<boolean> {
  if (layout === undefined || Object.keys(pages).length < pagesOf(layout)) return false;
  const failed = Object.values(pages).some((page) => page.failed > 0);
  try {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: importKey(importId),
        UpdateExpression:
          'SET #state = :over, #completedAt = :now, #updatedAt = :now REMOVE #active, #failure, #stalled, #sendingSince',
        ConditionExpression:
          '#round = :round AND #state IN (:running, :paused) AND size(#pages) = :all',
        ExpressionAttributeNames: {
          '#state': 'state',
          '#completedAt': 'completedAt',
          '#updatedAt': 'updatedAt',
          '#active': 'active',
          '#failure': 'failure',
          '#stalled': 'stalled',
          '#sendingSince': 'sendingSince',
          '#round': 'round',
          '#pages': 'pages',
        },
        ExpressionAttributeValues: {
          ':over': failed ? 'completed-with-failures' : 'completed',
          ':now': now,
          ':round': round,
          ':running': 'running',
          ':paused': 'paused',
          ':all': pagesOf(layout),
        },
      }),
    );
    return true;
  } catch (error) {
    refusedBy(error, importItemSchema);
    return false;
  }
}
