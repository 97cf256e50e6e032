import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { type ImportItem, importItemSchema } from './import-item.ts';
import { ACTIVE, type ImportsTable, importKey, LISTED } from './imports-table.ts';

/** Writes a new import, which then waits for its file. */
export async function createImport(table: ImportsTable, item: ImportItem): Promise<void> {
  await table.client.send(
    new PutCommand({
      TableName: table.name,
      Item: { ...importKey(item.importId), ...item, listed: LISTED, active: ACTIVE },
    }),
  );
}

/**
 * One Query: imports from the newest to the oldest, and where the next page begins.
 *
 * @param owner whose; everyone's, where none is named.
 */
export async function listImports(
  table: ImportsTable,
  { before, limit, owner }: { before: string | undefined; limit: number; owner?: string },
): Promise<{ items: ImportItem[]; next?: string }> {
  const answer = await table.client.send(
    new QueryCommand({
      TableName: table.name,
      IndexName: owner === undefined ? 'listed' : 'owned',
      KeyConditionExpression:
        before === undefined ? '#of = :of' : '#of = :of AND #importId < :before',
      ExpressionAttributeNames: {
        '#of': owner === undefined ? 'listed' : 'owner',
        ...(before === undefined ? {} : { '#importId': 'importId' }),
      },
      ExpressionAttributeValues: {
        ':of': owner ?? LISTED,
        ...(before === undefined ? {} : { ':before': before }),
      },
      ScanIndexForward: false,
      Limit: limit,
    }),
  );
  const items = (answer.Items ?? []).map((item) => importItemSchema.parse(item));
  const last = items.at(-1)?.importId;
  const more = answer.LastEvaluatedKey !== undefined && last !== undefined;
  return { items, ...(more ? { next: last } : {}) };
}

/** The ids of those that the reaper looks after, a page at a time. */
export async function* activeImports({ client, name }: ImportsTable): AsyncGenerator<string> {
  let from: Record<string, unknown> | undefined;
  do {
    const answer = await client.send(
      new QueryCommand({
        TableName: name,
        IndexName: 'active',
        KeyConditionExpression: '#active = :active',
        ExpressionAttributeNames: { '#active': 'active' },
        ExpressionAttributeValues: { ':active': ACTIVE },
        ExclusiveStartKey: from,
      }),
    );
    for (const item of answer.Items ?? []) yield String(item.importId);
    from = answer.LastEvaluatedKey;
  } while (from !== undefined);
}
