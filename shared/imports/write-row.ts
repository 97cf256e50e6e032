import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { type ImportsTable, refusedBy, rowKey } from './imports-table.ts';
import { type RowItem, rowItemSchema } from './row-item.ts';

/**
 * Writes what became of a row, once in a round: who comes second gets what is there, and counts
 * that. A row that is done stays so; one that failed may be written again by a later round.
 */
export async function writeRow(
  table: ImportsTable,
  { importId, page, ttl }: { importId: string; page: number; ttl: number },
  item: RowItem,
): Promise<RowItem> {
  try {
    await table.client.send(
      new PutCommand({
        TableName: table.name,
        Item: { ...rowKey(importId, page, item.row), ...item, ttl },
        ConditionExpression: 'attribute_not_exists(#pk) OR (#state = :failed AND #round < :round)',
        ExpressionAttributeNames: { '#pk': 'pk', '#state': 'state', '#round': 'round' },
        ExpressionAttributeValues: { ':failed': 'failed', ':round': item.round },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return item;
  } catch (error) {
    const { item: there } = refusedBy(error, rowItemSchema);
    if (there === undefined) throw error;
    return there;
  }
}

/** Whether a row needs no call in this round. */
export const isWritten = ({ state, round }: RowItem, current: number): boolean =>
  state === 'done' || round >= current;
