import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { BusyError } from '../errors.ts';
import { padSequencer, type Work } from '../messages/thumbnail-work.ts';
import { type FailureClass, RETRY_AFTER } from './failure.ts';
import { type ImageItem, imageItemSchema, type Made } from './image-item.ts';
import { anyMissing, type ImagesTable, itemRefused, keyOf } from './images-table.ts';
import { refusalOf } from './refusal.ts';
import type { Variant } from './variant.ts';
import { QUEUED_LEASE } from './viewer-claim.ts';

/** One worker's exclusive hold of one image, until a time. */
export interface Hold {
  table: ImagesTable;
  work: Work;
  owner: string;
  /** The item as the claim left it. */
  item: ImageItem;
}

/** `missing` is forgotten after a day: anyone can ask for keys that never were. */
const FORGET_MISSING_SECONDS = 86_400;

/**
 * Takes the image for this worker, until its function's own timeout: a worker that is killed
 * leaves a claim that lapses when it could no longer have been alive.
 *
 *   worker A   claim ✓ ── read ── write ── record ✓ ──▶
 *   worker B      claim ✗ busy ── again after A's lease ── claim ✗ done ──▶
 *   worker C   claim ✓ ── killed …            lease ends
 *   worker D                                    claim ✓ ── read ── write ── record ──▶
 */
export async function claimForWork(
  table: ImagesTable,
  work: Work,
  variants: readonly Variant[],
  { owner, now, until }: { owner: string; now: number; until: number },
): Promise<Hold | 'done' | 'stale'> {
  const condition = beginCondition(work, variants);
  const sequencer = work.kind === 'wanted' ? undefined : padSequencer(work.sequencer);
  try {
    const answer = await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keyOf(work.image),
        UpdateExpression: `SET #claim = :claim, #deaths = if_not_exists(#deaths, :zero) + :one${
          sequencer === undefined ? '' : ', #sequencer = :sequencer'
        }`,
        ConditionExpression: condition.expression,
        ExpressionAttributeNames: { ...condition.names, '#deaths': 'deaths' },
        ExpressionAttributeValues: {
          ...condition.values,
          ':claim': { kind: 'working', owner, until },
          ':now': now,
          ':zero': 0,
          ':one': 1,
          ...(sequencer === undefined ? {} : { ':sequencer': sequencer }),
        },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return { table, work, owner, item: imageItemSchema.parse(answer.Attributes) };
  } catch (error) {
    const item = itemRefused(error, work.image);
    if (item === undefined) throw error;
    // The SDK may have repeated a write that had been done: then the claim refused is our own.
    if (item.claim?.owner === owner) return { table, work, owner, item };
    const refusal = refusalOf(item, work, variants, now);
    if (refusal === undefined) throw error;
    if (refusal === 'busy')
      throw new BusyError(`${work.image} is being made`, item.claim?.until ?? now);
    return refusal;
  }
}

interface Condition {
  expression: string;
  names: Record<string, string>;
  values: Record<string, string>;
}

/** `refusalOf`, as DynamoDB says it. */
function beginCondition(work: Work, variants: readonly Variant[]): Condition {
  const missing = anyMissing(variants, work.image);
  // no other worker holds it; a message on its way is no obstacle, since whoever comes first does its work
  const free = '(attribute_not_exists(#claim) OR #claim.#kind = :queued OR #claim.#until <= :now)';
  // no newer event was seen
  const current = '(attribute_not_exists(#sequencer) OR #sequencer <= :sequencer)';
  // something is left to make, and what failed has waited its time
  const undone = `(${missing.condition} AND (attribute_not_exists(#failure) OR #failure.#retryAt <= :now))`;
  // a new source resets both
  const replaced = '(attribute_not_exists(#etag) OR #etag <> :etag)';

  const claim = { '#claim': 'claim', '#kind': 'kind', '#until': 'until' };
  const failure = { '#failure': 'failure', '#retryAt': 'retryAt', ...missing.names };
  const queued = { ':queued': 'queued' };
  switch (work.kind) {
    case 'wanted':
      return {
        expression: `${free} AND ${undone}`,
        names: { ...claim, ...failure },
        values: { ...queued, ...missing.values },
      };
    case 'created':
      return {
        expression: `${free} AND ${current} AND (${replaced} OR ${undone})`,
        names: { ...claim, ...failure, '#sequencer': 'sequencer', '#etag': 'etag' },
        values: { ...queued, ...missing.values, ':etag': work.etag },
      };
    case 'removed':
      return {
        expression: `${free} AND ${current}`,
        names: { ...claim, '#sequencer': 'sequencer' },
        values: queued,
      };
  }
}

export interface Recorded {
  etag: string;
  width: number;
  height: number;
  orientation: number;
  thumbhash: string;
  color: string;
  variants: Record<string, Made>;
}

/** Says what was made, and lets go. The objects exist by now: a URL is never handed out before. */
export async function record(hold: Hold, made: Recorded): Promise<void> {
  await release(hold, {
    set: { ...made },
    remove: ['failure', 'ttl'],
  });
}

/** Says why it can never succeed, and lets go. Variants of an earlier source go with it. */
export async function recordFailure(
  hold: Hold,
  failure: { class: FailureClass; reason: string; etag?: string },
  now: number,
): Promise<void> {
  const { etag, ...rest } = failure;
  const sameSource = etag !== undefined && etag === hold.item.etag;
  await release(hold, {
    set: {
      failure: { ...rest, retryAt: now + RETRY_AFTER[failure.class] },
      ...(etag === undefined ? {} : { etag }),
      ...(failure.class === 'missing'
        ? { ttl: Math.floor(now / 1000) + FORGET_MISSING_SECONDS }
        : {}),
    },
    remove: [
      ...(sameSource ? [] : ['variants', 'width', 'height', 'orientation', 'thumbhash', 'color']),
      ...(etag === undefined ? ['etag'] : []),
      ...(failure.class === 'missing' ? [] : ['ttl']),
    ],
  });
}

/** Lets go of an image that turned out to need nothing. */
export async function letGo(hold: Hold): Promise<void> {
  await release(hold, { set: {}, remove: [] });
}

/** Lets go until a message is delivered again, `delayMs` from now; viewers send no other meanwhile. */
export async function postpone(hold: Hold, delayMs: number, now: number): Promise<void> {
  const claim = { kind: 'queued', owner: hold.owner, until: now + delayMs + QUEUED_LEASE };
  await release(hold, { set: { claim }, remove: [] });
}

/** Forgets an image that is gone. */
export async function forget(hold: Hold): Promise<void> {
  await ownWrite(hold, () =>
    hold.table.client.send(
      new DeleteCommand({
        TableName: hold.table.name,
        Key: keyOf(hold.work.image),
        ConditionExpression: '#claim.#owner = :owner',
        ExpressionAttributeNames: { '#claim': 'claim', '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': hold.owner },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
}

async function release(
  hold: Hold,
  { set, remove }: { set: Record<string, unknown>; remove: string[] },
): Promise<void> {
  const sets = Object.keys(set);
  // Who waits for it waits on while it is postponed.
  const removes = [...remove, 'deaths', ...('claim' in set ? [] : ['claim', 'missedAt'])];
  const assignments = sets.map((name) => `#${name} = :${name}`).join(', ');
  await ownWrite(hold, () =>
    hold.table.client.send(
      new UpdateCommand({
        TableName: hold.table.name,
        Key: keyOf(hold.work.image),
        UpdateExpression: `${sets.length > 0 ? `SET ${assignments} ` : ''}REMOVE ${removes.map((name) => `#${name}`).join(', ')}`,
        ConditionExpression: '#claim.#owner = :holder',
        ExpressionAttributeNames: {
          '#claim': 'claim',
          '#owner': 'owner',
          ...Object.fromEntries([...sets, ...removes].map((name) => [`#${name}`, name])),
        },
        ExpressionAttributeValues: {
          ':holder': hold.owner,
          ...Object.fromEntries(sets.map((name) => [`:${name}`, set[name]])),
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
}

/**
 * A write that only the holder may do. Where it is refused, either the lease lapsed and another
 * worker holds the image: then this work is void and the message comes again, to find it done;
 * or nobody does, which the SDK's repeat of our own write looks like.
 */
async function ownWrite(hold: Hold, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const item = itemRefused(error, hold.work.image);
    if (item === undefined) throw error;
    if (item.claim === undefined) return;
    throw new BusyError(`${hold.work.image}: the claim lapsed and was taken`, item.claim.until);
  }
}
