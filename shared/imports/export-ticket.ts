import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { type ImportsTable, refusedBy, ticketKey } from './imports-table.ts';

// Which export of an import was last asked to be written: whoever else asks finds it under way.

export const ticketSchema = z.object({
  /** Of the object. */
  key: z.string(),
  /** Epoch milliseconds: until then nobody else asks for it. */
  until: z.number(),
});

export type Ticket = z.infer<typeof ticketSchema>;

export interface ExportWish {
  importId: string;
  onlyFailed: boolean;
}

export async function readTicket(
  { client, name }: ImportsTable,
  { importId, onlyFailed }: ExportWish,
): Promise<Ticket | undefined> {
  const { Item: item } = await client.send(
    new GetCommand({
      TableName: name,
      Key: ticketKey(importId, onlyFailed),
      ConsistentRead: true,
    }),
  );
  return item === undefined ? undefined : ticketSchema.parse(item);
}

/**
 * Takes it on oneself to have an export written. Of many who have read the same ticket, one does.
 *
 *   A   read (none) ── put ✓ ── job ─────────────▶
 *   B      read (none) ── put ✗ (A's is there) ──▶ asks again later
 *
 * @param seen what was read before
 */
export async function takeTicket(
  { client, name }: ImportsTable,
  { importId, onlyFailed }: ExportWish,
  seen: Ticket | undefined,
  { ttl, ...ticket }: Ticket & { ttl: number },
): Promise<boolean> {
  try {
    await client.send(
      new PutCommand({
        TableName: name,
        Item: { ...ticketKey(importId, onlyFailed), ...ticket, ttl },
        ConditionExpression:
          seen === undefined ? 'attribute_not_exists(#key)' : '#key = :key AND #until = :until',
        ExpressionAttributeNames: {
          '#key': 'key',
          ...(seen === undefined ? {} : { '#until': 'until' }),
        },
        ...(seen === undefined
          ? {}
          : { ExpressionAttributeValues: { ':key': seen.key, ':until': seen.until } }),
      }),
    );
    return true;
  } catch (error) {
    refusedBy(error, ticketSchema);
    return false;
  }
}
