import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type * as z from 'zod';
import { type ChunkItem, chunkItemSchema } from './chunk-item.ts';
import { type ImportItem, importItemSchema } from './import-item.ts';
import { type RowItem, rowItemSchema } from './row-item.ts';

// The imports table. A partition an import: what is known of it, and the report on its file. And a
// partition a page of it: its chunks and its rows, so that an import of a million rows is spread
// over two hundred partitions, and a page of progress is one Query.
//
//   pk           sk
//   01j…         import | report | refused/… | export/all | export/only-failed
//   01j…/1       chunk/0000001 …  row/00000001 …
//
//   bound:…      2026-01-31T23:59, what a caller has caused in that minute
//
// Three indexes: `listed` has all imports, newest last, `owned` those of one caller, and `active` those
// that the reaper looks after.

export interface ImportsTable {
  client: DynamoDBDocumentClient;
  name: string;
}

/** Partition keys of the indexes; an import that is over leaves `active`. */
export const LISTED = 'everyone';
export const ACTIVE = 'active';

export const importKey = (importId: string) => ({ pk: importId, sk: 'import' });
export const reportKey = (importId: string) => ({ pk: importId, sk: 'report' });
/** Of one file: whoever refuses one that was replaced meanwhile says nothing of its successor. */
export const refusedKey = (importId: string, etag: string) => ({
  pk: importId,
  sk: `refused/${etag}`,
});

/** Where it is counted what a caller has caused in a minute. */
export const boundKey = (caller: string, minute: string) => ({
  pk: `bound:${caller}`,
  sk: minute,
});

export const ticketKey = (importId: string, onlyFailed: boolean) => ({
  pk: importId,
  sk: onlyFailed ? 'export/only-failed' : 'export/all',
});

const pageKey = (importId: string, page: number) => `${importId}/${page}`;
const chunkName = (chunk: number) => `chunk/${String(chunk).padStart(7, '0')}`;
const rowName = (row: number) => `row/${String(row).padStart(8, '0')}`;

export const chunkKey = (importId: string, page: number, chunk: number) => ({
  pk: pageKey(importId, page),
  sk: chunkName(chunk),
});

export const rowKey = (importId: string, page: number, row: number) => ({
  pk: pageKey(importId, page),
  sk: rowName(row),
});

/** One consistent read, or nothing if there is no such import. */
export async function readImport(
  { client, name }: ImportsTable,
  importId: string,
): Promise<ImportItem | undefined> {
  const { Item: item } = await client.send(
    new GetCommand({ TableName: name, Key: importKey(importId), ConsistentRead: true }),
  );
  return item === undefined ? undefined : importItemSchema.parse(item);
}

/** One Query: the chunks of a page that were ever claimed, in order. */
export async function readChunks(
  table: ImportsTable,
  importId: string,
  page: number,
): Promise<ChunkItem[]> {
  const items = await queryAll(table, {
    KeyConditionExpression: '#pk = :pk AND begins_with(#sk, :sk)',
    ExpressionAttributeNames: { '#pk': 'pk', '#sk': 'sk' },
    ExpressionAttributeValues: { ':pk': pageKey(importId, page), ':sk': 'chunk/' },
    // What the last of a page's chunks decides by must show all the others.
    ConsistentRead: true,
  });
  return items.map((item) => chunkItemSchema.parse(item));
}

/** The rows of a page from one to another that are written, in order; one Query a megabyte. */
export async function readRows(
  table: ImportsTable,
  importId: string,
  page: number,
  { first, last }: { first: number; last: number },
): Promise<RowItem[]> {
  const items = await queryAll(table, {
    KeyConditionExpression: '#pk = :pk AND #sk BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#pk': 'pk', '#sk': 'sk' },
    ExpressionAttributeValues: {
      ':pk': pageKey(importId, page),
      ':first': rowName(first),
      ':last': rowName(last),
    },
    ConsistentRead: true,
  });
  return items.map((item) => rowItemSchema.parse(item));
}

async function queryAll(
  { client, name }: ImportsTable,
  query: Omit<QueryCommandInput, 'TableName'>,
): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  let from: Record<string, unknown> | undefined;
  do {
    const answer = await client.send(
      new QueryCommand({ TableName: name, ...query, ExclusiveStartKey: from }),
    );
    items.push(...(answer.Items ?? []));
    from = answer.LastEvaluatedKey;
  } while (from !== undefined);
  return items;
}

/** What a failed condition found: the item as it is, or nothing where there is none. */
export function refusedBy<Schema extends z.ZodType>(
  error: unknown,
  schema: Schema,
): { item: z.output<Schema> | undefined } {
  if (!(error instanceof ConditionalCheckFailedException)) throw error;
  return { item: error.Item === undefined ? undefined : schema.parse(unmarshall(error.Item)) };
}
