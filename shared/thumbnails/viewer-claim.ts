import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { ImageItem } from './image-item.ts';
import { anyMissing, type ImagesTable, itemRefused, keyOf } from './images-table.ts';
import type { Variant } from './variant.ts';

/**
 * How long a viewer's message may wait on its queue before another viewer sends a second one, in
 * milliseconds. A second message costs a conditional write and no thumbnail.
 */
export const QUEUED_LEASE = 120_000;

export type ViewerClaim = { won: true } | { won: false; item: ImageItem };

/**
 * Claims a cold image for a message that is about to be sent. Of all callers, one wins.
 *
 *   viewer A   read: cold ── claim ✓ ── send ─────────────────────────────▶
 *   viewer B     read: cold ────── claim ✗ (claimed) ── answer: pending ──▶
 *   viewer C       read: cold ───────────────── claim ✗ (made) ── answer: ready, from the refusal
 *   worker                              claim … record ──▶
 */
export async function claimForViewer(
  table: ImagesTable,
  image: string,
  wanted: readonly Variant[],
  { owner, now }: { owner: string; now: number },
): Promise<ViewerClaim> {
  const missing = anyMissing(wanted, image);
  try {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keyOf(image),
        // A second message for what nobody has made yet does not make the wait a shorter one.
        UpdateExpression: 'SET #claim = :claim, #missedAt = if_not_exists(#missedAt, :now)',
        ConditionExpression: [
          // nobody is at it, and no message is on its way
          '(attribute_not_exists(#claim) OR #claim.#until <= :now)',
          // what failed has waited its time
          '(attribute_not_exists(#failure) OR #failure.#retryAt <= :now)',
          // it was not made since it was read
          missing.condition,
        ].join(' AND '),
        ExpressionAttributeNames: {
          '#claim': 'claim',
          '#missedAt': 'missedAt',
          '#until': 'until',
          '#failure': 'failure',
          '#retryAt': 'retryAt',
          ...missing.names,
        },
        ExpressionAttributeValues: {
          ':claim': { kind: 'queued', owner, until: now + QUEUED_LEASE },
          ':now': now,
          ...missing.values,
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return { won: true };
  } catch (error) {
    const item = itemRefused(error, image);
    if (item === undefined) throw error;
    // The SDK may have repeated a write that had been done: then the claim refused is our own.
    return item.claim?.owner === owner ? { won: true } : { won: false, item };
  }
}

/** Gives a claim back whose message could not be sent, so that the next request tries again. */
export async function releaseViewerClaim(
  table: ImagesTable,
  image: string,
  owner: string,
): Promise<void> {
  try {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keyOf(image),
        UpdateExpression: 'REMOVE #claim, #missedAt',
        ConditionExpression: '#claim.#owner = :owner',
        ExpressionAttributeNames: {
          '#claim': 'claim',
          '#missedAt': 'missedAt',
          '#owner': 'owner',
        },
        ExpressionAttributeValues: { ':owner': owner },
      }),
    );
  } catch (error) {
    if (itemRefused(error, image) === undefined) throw error;
  }
}
