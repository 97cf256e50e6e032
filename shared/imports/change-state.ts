import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import {
  type Failure,
  type ImportItem,
  type ImportState,
  importItemSchema,
  type Page,
} from './import-item.ts';
import { ACTIVE, type ImportsTable, importKey, refusedBy } from './imports-table.ts';
import type { Layout } from './layout.ts';

// Every change of an import's state is one conditional write from the states that allow it, so that
// a pause, a cancellation, a retry and a completion that meet have one order, whoever asked first.

/** The import as it is after the change; or as it is instead, where its state does not allow it. */
export type Change = { changed: true; item: ImportItem } | { changed: false; item?: ImportItem };

type Attribute = keyof ImportItem | 'active';

interface Write {
  from: readonly ImportState[];
  set: Partial<Record<Attribute, unknown>>;
  remove?: readonly Attribute[];
  /** Further clauses, over `#name` and `:name` of `where`. */
  where?: Partial<Record<Attribute, { clause: string; value: unknown }>>;
}

async function change(
  { client, name: tableName }: ImportsTable,
  importId: string,
  { from, set, remove = [], where = {} }: Write,
): Promise<Change> {
  const sets = Object.entries(set).filter(([, value]) => value !== undefined);
  const clauses = Object.entries(where);
  const names = new Set(['state', ...sets.map(([name]) => name), ...remove, ...Object.keys(where)]);
  try {
    const { Attributes: attributes } = await client.send(
      new UpdateCommand({
        TableName: tableName,
        Key: importKey(importId),
        UpdateExpression: [
          `SET ${sets.map(([name]) => `#${name} = :${name}`).join(', ')}`,
          ...(remove.length > 0 ? [`REMOVE ${remove.map((name) => `#${name}`).join(', ')}`] : []),
        ].join(' '),
        ConditionExpression: [
          `#state IN (${from.map((_, index) => `:from${index}`).join(', ')})`,
          ...clauses.map(([, { clause }]) => clause),
        ].join(' AND '),
        ExpressionAttributeNames: Object.fromEntries([...names].map((name) => [`#${name}`, name])),
        ExpressionAttributeValues: {
          ...Object.fromEntries(sets.map(([name, value]) => [`:${name}`, value])),
          ...Object.fromEntries(from.map((state, index) => [`:from${index}`, state])),
          ...Object.fromEntries(clauses.map(([name, { value }]) => [`:where_${name}`, value])),
        },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return { changed: true, item: importItemSchema.parse(attributes) };
  } catch (error) {
    const { item } = refusedBy(error, importItemSchema);
    return { changed: false, ...(item === undefined ? {} : { item }) };
  }
}

/** The file is there, or a reading that was killed begins again. */
export async function beginReading(
  table: ImportsTable,
  importId: string,
  { etag, reads, now }: { etag: string; reads: number; now: number },
): Promise<Change> {
  return await change(table, importId, {
    from: ['awaiting-upload', 'reading'],
    set: { state: 'reading', etag, reads, updatedAt: now },
  });
}

/** Said now and then while a file is read; it is not, once somebody has cancelled or replaced the file. */
export async function keepReading(
  table: ImportsTable,
  importId: string,
  { etag, now }: { etag: string; now: number },
): Promise<Change> {
  return await change(table, importId, {
    from: ['reading'],
    set: { updatedAt: now },
    where: { etag: { clause: '#etag = :where_etag', value: etag } },
  });
}

/**
 * The file is read: `total` is there before any message goes out. Whether it goes on by itself is
 * `hold`, which somebody may have changed meanwhile.
 *
 * @param halt why it does not begin by itself, although nobody holds it
 */
export async function endReading(
  table: ImportsTable,
  importId: string,
  {
    etag,
    layout,
    header,
    hold,
    halt,
    now,
  }: {
    etag: string;
    layout: Layout;
    header: string[];
    hold: boolean;
    halt?: Failure | undefined;
    now: number;
  },
): Promise<Change> {
  const waits = hold || halt !== undefined;
  return await change(table, importId, {
    from: ['reading'],
    set: {
      state: waits ? 'paused' : 'running',
      failure: halt,
      layout,
      header,
      updatedAt: now,
      ...(waits ? {} : { startedAt: now, settledAtStart: 0, sendingSince: now }),
    },
    where: {
      hold: { clause: '#hold = :where_hold', value: hold },
      etag: { clause: '#etag = :where_etag', value: etag },
    },
  });
}

/** Everything that was to be sent since `since` is. */
export async function endSending(
  table: ImportsTable,
  importId: string,
  { since, now }: { since: number; now: number },
): Promise<Change> {
  return await change(table, importId, {
    from: ['running', 'paused'],
    set: { updatedAt: now },
    remove: ['sendingSince'],
    where: { sendingSince: { clause: '#sendingSince = :where_sendingSince', value: since } },
  });
}

/** A person's wish. Before an import runs, it is told not to begin by itself. */
export async function pauseImport(
  table: ImportsTable,
  importId: string,
  now: number,
): Promise<Change> {
  const paused = await change(table, importId, {
    from: ['running'],
    set: { state: 'paused', updatedAt: now },
  });
  if (paused.changed) return paused;
  return await change(table, importId, {
    from: ['awaiting-upload', 'reading', 'paused'],
    set: { hold: true, updatedAt: now },
  });
}

/**
 * Pauses an import that cannot go on until somebody acts, with the reason. Not one that was resumed
 * since: somebody has acted, and what was seen before says nothing of that.
 *
 *   worker    calls … refused: quota spent ─────────────────────── halt ✗ (begun again since)
 *   operator                 raises the quota ── resume ✓
 */
export async function haltImport(
  table: ImportsTable,
  { importId, startedAt = 0 }: Pick<ImportItem, 'importId' | 'startedAt'>,
  { now, failure, unsentSince }: { now: number; failure: Failure; unsentSince?: number },
): Promise<Change> {
  return await change(table, importId, {
    from: ['running'],
    set: { state: 'paused', updatedAt: now, failure },
    where: {
      startedAt: { clause: '#startedAt = :where_startedAt', value: startedAt },
      // what is complained of has not been done since
      ...(unsentSince === undefined
        ? {}
        : {
            sendingSince: {
              clause: '#sendingSince = :where_sendingSince',
              value: unsentSince,
            },
          }),
    },
  });
}

/** What may be changed while nothing is under way. */
export interface Wishes {
  instructions?: string;
  columns?: readonly string[];
  /** `null` takes the bound away. */
  maxCostUsd?: number | null;
}

/**
 * Goes on with an import in the state that its caller has looked at: what is wished for was held
 * against the file that was known then.
 *
 * @param settled rows that are done or have failed
 */
export async function resumeImport(
  table: ImportsTable,
  { importId, state }: Pick<ImportItem, 'importId' | 'state'>,
  { now, settled, maxCostUsd, ...others }: { now: number; settled: number } & Wishes,
): Promise<Change> {
  const wishes = typeof maxCostUsd === 'number' ? { ...others, maxCostUsd } : others;
  const dropped = maxCostUsd === null ? (['maxCostUsd'] as const) : [];
  if (state !== 'paused') {
    // Before it runs, it is told to begin by itself.
    return await change(table, importId, {
      from: [state === 'reading' ? 'reading' : 'awaiting-upload'],
      set: { ...wishes, hold: false, updatedAt: now },
      remove: dropped,
    });
  }
  return await change(table, importId, {
    from: ['paused'],
    set: {
      ...wishes,
      state: 'running',
      startedAt: now,
      settledAtStart: settled,
      sendingSince: now,
      updatedAt: now,
    },
    remove: ['failure', 'stalled', ...dropped],
  });
}

export async function cancelImport(
  table: ImportsTable,
  importId: string,
  now: number,
): Promise<Change> {
  return await change(table, importId, {
    from: ['awaiting-upload', 'reading', 'running', 'paused'],
    set: { state: 'cancelled', completedAt: now, updatedAt: now },
    remove: ['active', 'sendingSince', 'stalled', 'failure'],
  });
}

/**
 * Its file is not one that can be imported: nothing of it was begun.
 *
 * @param etag of the file that this is said of, where it is said of one: it may have been replaced
 */
export async function failImport(
  table: ImportsTable,
  importId: string,
  { now, failure, etag }: { now: number; failure: Failure; etag?: string | undefined },
): Promise<Change> {
  return await change(table, importId, {
    from: ['awaiting-upload', 'reading'],
    set: { state: 'failed', failure, completedAt: now, updatedAt: now },
    remove: ['active', 'sendingSince', 'stalled'],
    ...(etag === undefined
      ? {}
      : { where: { etag: { clause: '#etag = :where_etag', value: etag } } }),
  });
}

const RETRIED_FROM = ['completed-with-failures', 'running', 'paused'] as const;

/**
 * Begins a round for the rows that failed. Pages without failures stay full; what is under way in
 * the round before is counted in no page any more, and is found again by the new round.
 *
 * @param done rows that are, and so are not begun anew
 */
export async function retryImport(
  table: ImportsTable,
  { importId, state, round, pages }: ImportItem,
  { now, done }: { now: number; done: number },
): Promise<Change> {
  const kept: Record<string, Page> = Object.fromEntries(
    Object.entries(pages).filter(([, { failed }]) => failed === 0),
  );
  const allowed = RETRIED_FROM.filter((each) => each === state);
  const next = state === 'paused' ? 'paused' : 'running';
  return await change(table, importId, {
    // As it was read: a page that became full since then must not be forgotten.
    from: allowed.length > 0 ? allowed : RETRIED_FROM,
    set: {
      state: next,
      round: round + 1,
      pages: kept,
      active: ACTIVE,
      updatedAt: now,
      ...(next === 'running' ? { startedAt: now, settledAtStart: done, sendingSince: now } : {}),
    },
    remove: ['completedAt', 'stalled'],
    where: {
      round: { clause: '#round = :where_round', value: round },
      pages: { clause: 'size(#pages) = :where_pages', value: Object.keys(pages).length },
    },
  });
}

/** What the reaper did about what nobody worked on; named in the API until it is over. */
export async function noteStalled(
  table: ImportsTable,
  importId: string,
  stalled: NonNullable<ImportItem['stalled']>,
): Promise<Change> {
  return await change(table, importId, { from: ['running', 'reading'], set: { stalled } });
}
