import pLimit from 'p-limit';
import { type ImportsBucket, readChunkObject } from './chunk-objects.ts';
import { claimChunk, settleChunk } from './claim-chunk.ts';
import { closePage } from './close-page.ts';
import { parseChunk } from './csv/chunk-lines.ts';
import { type ImportItem, NO_TALLIES } from './import-item.ts';
import type { SourceName } from './import-objects.ts';
import { type ImportsTable, readRows } from './imports-table.ts';
import { type Layout, pageOfChunk, rowsOfChunk } from './layout.ts';
import type { RowItem } from './row-item.ts';
import { isWritten, writeRow } from './write-row.ts';

const WRITES_AT_ONCE = 8;

/** Milliseconds that closing may take. */
const LEASE = 30_000;

export interface Closer {
  table: ImportsTable;
  bucket: ImportsBucket;
  /** Of this closing alone. */
  worker: string;
  now: () => number;
}

/**
 * Gives a chunk up: rows that are not written fail, with the reason, and the chunk is settled. A
 * worker that comes too late finds its rows written and counts those.
 *
 * @returns `held` while somebody works on it
 */
export async function closeChunk(
  { table, bucket, worker, now }: Closer,
  item: ImportItem & { layout: Layout },
  chunk: number,
  reason: string,
): Promise<'closed' | 'completed' | 'held'> {
  const { importId, layout, round, ttl } = item;
  const page = pageOfChunk(chunk);
  const name = { importId, chunk, round };
  const claim = await claimChunk(table, name, { worker, until: now() + LEASE, now: now() });
  if (claim.kind === 'held') return 'held';
  if (claim.kind === 'stale') return 'closed';
  if (claim.kind === 'won') {
    const span = rowsOfChunk(layout, chunk);
    const rows = new Map<number, RowItem>();
    for (const row of await readRows(table, importId, page, span)) rows.set(row.row, row);
    const ids = await idsOf(bucket, item, chunk);
    const limit = pLimit(WRITES_AT_ONCE);
    const numbers = Array.from({ length: span.last - span.first + 1 }, (_, i) => span.first + i);
    await Promise.all(
      numbers.map((row) =>
        limit(async () => {
          const prior = rows.get(row);
          if (prior !== undefined && isWritten(prior, round)) return;
          const { inputTokens = 0, outputTokens = 0 } = prior ?? {};
          const id = ids.get(row) ?? String(row);
          const failed = {
            row,
            id,
            state: 'failed',
            round,
            reason,
            inputTokens,
            outputTokens,
          } as const;
          rows.set(row, await writeRow(table, { importId, page, ttl }, failed));
        }),
      ),
    );
    const all = [...rows.values()];
    const failed = all.filter(({ state }) => state === 'failed').length;
    const tallies = {
      ...NO_TALLIES,
      done: all.length - failed,
      failed,
      inputTokens: all.reduce((total, row) => total + row.inputTokens, 0),
      outputTokens: all.reduce((total, row) => total + row.outputTokens, 0),
      gateMs: claim.item.gateMs,
      allowanceMs: claim.item.allowanceMs,
      yieldMs: claim.item.yieldMs,
      refusedMs: claim.item.refusedMs,
    };
    const { kept } = await settleChunk(table, name, { worker, now: now(), tallies });
    if (!kept) return 'held';
  }
  const { closing } = await closePage(table, { importId, layout, round }, page, now());
  return closing === 'completed' ? 'completed' : 'closed';
}

/** The merchandiser's ids; without the chunk's object, which may have expired, rows have numbers. */
async function idsOf(
  bucket: ImportsBucket,
  source: SourceName,
  chunk: number,
): Promise<Map<number, string>> {
  try {
    const rows = parseChunk(await readChunkObject(bucket, source, chunk));
    return new Map(rows.map(({ row, id }) => [row, id]));
  } catch {
    return new Map();
  }
}
