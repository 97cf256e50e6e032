import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type ChunkItem, chunkItemSchema, isClosed } from './chunk-item.ts';
import { NO_TALLIES, type Tallies } from './import-item.ts';
import { chunkKey, type ImportsTable, refusedBy } from './imports-table.ts';
import { pageOfChunk } from './layout.ts';

/** Which chunk, and in which round of its import. */
export interface ChunkName {
  importId: string;
  chunk: number;
  round: number;
}

export type Claim =
  | { kind: 'won'; item: ChunkItem }
  /** Nothing is left to do in this round. */
  | { kind: 'closed' }
  /** Somebody else has it, for so long at most. Epoch milliseconds. */
  | { kind: 'held'; until: number }
  /** A later round has begun. */
  | { kind: 'stale' };

/**
 * Claims a chunk for one worker until a time that the worker keeps moving on (`renewClaim`): two
 * workers on one chunk would both pay for its rows. A worker that dies leaves a claim that lapses.
 *
 *   message        worker A   claim ✓ ── rows ── renewed ── rows ── settle ──▶
 *   its duplicate  worker B      claim ✗ (held) ── back on the queue ── claim ✗ (closed) ── done
 *
 *   worker A       claim ✓ ── row ── killed
 *   redelivery                            claim ✗ (held) … lapsed … claim ✓ ── the other rows ──▶
 */
export async function claimChunk(
  table: ImportsTable,
  { importId, chunk, round }: ChunkName,
  { worker, until, now }: { worker: string; until: number; now: number },
): Promise<Claim> {
  const tallies = Object.keys(NO_TALLIES).map(
    (name) => `#${name} = if_not_exists(#${name}, :zero)`,
  );
  try {
    const answer = await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: chunkKey(importId, pageOfChunk(chunk), chunk),
        UpdateExpression: [
          'SET #chunk = :chunk, #round = :round, #settled = :no, #worker = :worker, #until = :until',
          '#touchedAt = :now, #claimedAt = :now, #resent = if_not_exists(#resent, :zero)',
          ...tallies,
        ].join(', '),
        ConditionExpression: [
          'attribute_not_exists(#chunk) OR (',
          // nobody has it
          '(attribute_not_exists(#until) OR #until <= :now) AND',
          // and something is left to do: in this round, or of an earlier one's failures
          '((#round = :round AND #settled = :no) OR',
          '(#round < :round AND (#settled = :no OR #failed > :zero))))',
        ].join(' '),
        ExpressionAttributeNames: {
          '#chunk': 'chunk',
          '#round': 'round',
          '#settled': 'settled',
          '#worker': 'worker',
          '#until': 'until',
          '#touchedAt': 'touchedAt',
          '#claimedAt': 'claimedAt',
          '#resent': 'resent',
          ...Object.fromEntries(Object.keys(NO_TALLIES).map((name) => [`#${name}`, name])),
        },
        ExpressionAttributeValues: {
          ':chunk': chunk,
          ':round': round,
          ':no': false,
          ':worker': worker,
          ':until': until,
          ':now': now,
          ':zero': 0,
        },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return { kind: 'won', item: chunkItemSchema.parse(answer.Attributes) };
  } catch (error) {
    const { item } = refusedBy(error, chunkItemSchema);
    if (item === undefined) throw error;
    // The SDK may have repeated a write that had been done: then the claim refused is our own.
    if (item.worker === worker) return { kind: 'won', item };
    if (item.round > round) return { kind: 'stale' };
    if (isClosed(item, round)) return { kind: 'closed' };
    return { kind: 'held', until: item.until ?? now };
  }
}

/** How far a chunk has come, as far as its worker knows. */
export interface Known {
  tallies?: Tallies;
  /** When its last row was written. */
  wroteAt?: number;
}

const noted = ({ tallies, wroteAt }: Known) => ({
  ...tallies,
  ...(wroteAt === undefined ? {} : { wroteAt }),
});

export type Hold = { kept: true } | { kept: false; item: ChunkItem | undefined };

/**
 * Moves the end of a claim on, and writes how far the chunk has come, once that is known. Answers whether it is still this
 * worker's: what was lost, to another worker or to the reaper, stays lost.
 *
 *   worker A   claim until 35 ── renew until 37 … lost on its way ── renew until 39 ✓ ──▶
 *                                                  └─ arrives: ✗, or the claim would end at 37 again
 */
export async function renewClaim(
  table: ImportsTable,
  name: ChunkName,
  { worker, until, now, ...known }: { worker: string; until: number; now: number } & Known,
): Promise<Hold> {
  const hold = await write(table, name, worker, { ...noted(known), touchedAt: now, until }, 'keep');
  // Ours all the same, and for longer than was asked for.
  return !hold.kept && hold.item?.worker === worker ? { kept: true } : hold;
}

/** All rows are written. Whoever settles has a page to look at (`closePage`). */
export async function settleChunk(
  table: ImportsTable,
  name: ChunkName,
  { worker, now, ...known }: { worker: string; now: number; tallies: Tallies } & Known,
): Promise<Hold> {
  const hold = await write(
    table,
    name,
    worker,
    { ...noted(known), touchedAt: now, settled: true },
    'leave',
  );
  // Once more after a time-out that had committed.
  if (!hold.kept && hold.item !== undefined && isClosed(hold.item, name.round))
    return { kept: true };
  return hold;
}

/** Gives a claim back with what was done under it, if that is known. */
export async function releaseChunk(
  table: ImportsTable,
  name: ChunkName,
  { worker, now, ...known }: { worker: string; now: number } & Known,
): Promise<Hold> {
  return await write(table, name, worker, { ...noted(known), touchedAt: now }, 'leave');
}

async function write(
  table: ImportsTable,
  { importId, chunk }: ChunkName,
  worker: string,
  values: Partial<Tallies> & {
    touchedAt: number;
    wroteAt?: number;
    settled?: true;
    until?: number;
  },
  claim: 'keep' | 'leave',
): Promise<Hold> {
  const names = Object.keys(values);
  try {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: chunkKey(importId, pageOfChunk(chunk), chunk),
        UpdateExpression: [
          `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
          ...(claim === 'leave' ? ['REMOVE #worker, #until'] : []),
        ].join(' '),
        ConditionExpression: [
          '#worker = :worker',
          // and no later renewal was here before this one
          ...(claim === 'keep' ? ['#until <= :until'] : []),
        ].join(' AND '),
        ExpressionAttributeNames: {
          '#worker': 'worker',
          ...(claim === 'leave' ? { '#until': 'until' } : {}),
          ...Object.fromEntries(names.map((name) => [`#${name}`, name])),
        },
        ExpressionAttributeValues: {
          ':worker': worker,
          ...Object.fromEntries(Object.entries(values).map(([name, value]) => [`:${name}`, value])),
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return { kept: true };
  } catch (error) {
    return { kept: false, ...refusedBy(error, chunkItemSchema) };
  }
}
