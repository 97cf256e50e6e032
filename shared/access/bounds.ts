import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod';

/** What is counted of each caller, a minute. */
export const boundsSchema = z.strictObject({
  coldImages: z.int().min(1),
  listings: z.int().min(1),
  imports: z.int().min(1),
});
export type Bounds = z.infer<typeof boundsSchema>;
export type Bounded = keyof Bounds;

/** Where it is counted: an item for each caller and minute, which DynamoDB removes some time after. */
export interface Ledger {
  client: DynamoDBDocumentClient;
  name: string;
  /** An item's key in that table. */
  keyOf: (caller: string, minute: string) => Record<string, string>;
}

export interface Taken {
  /** How many of those that were asked for, all or fewer. */
  granted: number;
  /** Milliseconds until there are some again. */
  retryAfterMs: number;
}

const MINUTE = 60_000;
/** Seconds for which an item stays that nobody needs any more. */
const KEPT = 3600;

/**
 * Takes from what a caller may cause in this minute of the clock: one conditional write, and one more
 * for the rest where not all can be had. The SDK may repeat a write that was counted; then the caller
 * has a little less, never more.
 */
export async function take(
  ledger: Ledger,
  caller: string,
  { what, wanted, most, now }: { what: Bounded; wanted: number; most: number; now: number },
): Promise<Taken> {
  const window = Math.floor(now / MINUTE);
  const retryAfterMs = (window + 1) * MINUTE - now;
  const first = await add(ledger, caller, { what, count: Math.min(wanted, most), most, window });
  if (first.added) return { granted: Math.min(wanted, most), retryAfterMs };
  const left = most - first.had;
  if (left <= 0) return { granted: 0, retryAfterMs };
  const rest = await add(ledger, caller, { what, count: left, most, window });
  // Somebody else of the same name was faster, and has the rest.
  return { granted: rest.added ? left : 0, retryAfterMs };
}

type Added = { added: true } | { added: false; had: number };

async function add(
  { client, name, keyOf }: Ledger,
  caller: string,
  { what, count, most, window }: { what: Bounded; count: number; most: number; window: number },
): Promise<Added> {
  const at = window * MINUTE;
  try {
    await client.send(
      new UpdateCommand({
        TableName: name,
        Key: keyOf(caller, new Date(at).toISOString().slice(0, 16)),
        UpdateExpression: 'SET #ttl = :ttl ADD #what :count',
        // Nothing so far, or so little that all of it is within the bound.
        ConditionExpression: 'attribute_not_exists(#what) OR #what <= :room',
        ExpressionAttributeNames: { '#what': what, '#ttl': 'ttl' },
        ExpressionAttributeValues: {
          ':count': count,
          ':room': most - count,
          ':ttl': at / 1000 + KEPT,
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return { added: true };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    const item = error.Item === undefined ? {} : unmarshall(error.Item);
    return { added: false, had: z.number().catch(most).parse(item[what]) };
  }
}
