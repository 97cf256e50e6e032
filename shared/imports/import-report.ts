import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { delimiterSchema } from './csv/delimiter.ts';
import { encodingSchema } from './csv/encoding.ts';
import type { CsvReport } from './csv/read-csv.ts';
import { type ImportsTable, refusedKey, reportKey } from './imports-table.ts';

// What was understood of a file. An item of its own, as workers read the import often and this never.
// Of a file that is refused there may be one too, as far as it was read: beside the other, for a late
// reader may refuse what another has taken.

export const reportSchema = z.object({
  encoding: encodingSchema,
  delimiter: delimiterSchema,
  header: z.array(z.string()),
  warnings: z.array(z.object({ line: z.number(), message: z.string() })),
  warningsTotal: z.number(),
  rows: z.number(),
  blankLines: z.number(),
  columns: z.array(
    z.object({
      name: z.string(),
      filled: z.number(),
      meanCharacters: z.number(),
      maxCharacters: z.number(),
      samples: z.array(z.string()),
    }),
  ),
  preview: z.array(z.object({ line: z.number(), cells: z.array(z.string()) })).default([]),
});

export type Report = z.infer<typeof reportSchema>;

/** DynamoDB takes 400 KB an item. */
const MOST_BYTES = 350_000;

export async function writeReport(
  table: ImportsTable,
  importId: string,
  report: CsvReport,
  ttl: number,
): Promise<void> {
  await write(table, reportKey(importId), report, ttl);
}

/** Written before its import is said to be refused: whoever sees that finds this. */
export async function writeRefusedReport(
  table: ImportsTable,
  { importId, etag }: { importId: string; etag: string },
  report: CsvReport,
  ttl: number,
): Promise<void> {
  await write(table, refusedKey(importId, etag), report, ttl);
}

export async function readReport(
  table: ImportsTable,
  importId: string,
): Promise<Report | undefined> {
  return await read(table, reportKey(importId));
}

export async function readRefusedReport(
  table: ImportsTable,
  { importId, etag }: { importId: string; etag: string },
): Promise<Report | undefined> {
  return await read(table, refusedKey(importId, etag));
}

async function write(
  { client, name }: ImportsTable,
  key: ReturnType<typeof reportKey>,
  report: CsvReport,
  ttl: number,
): Promise<void> {
  const small = Buffer.byteLength(JSON.stringify(report)) <= MOST_BYTES;
  const columns = report.columns.map((column) => ({ ...column, samples: [] }));
  await client.send(
    new PutCommand({
      TableName: name,
      Item: { ...key, ...report, ...(small ? {} : { columns, preview: [] }), ttl },
    }),
  );
}

/** Consistently: a page that has seen the state that follows it looks once. */
async function read(
  { client, name }: ImportsTable,
  key: ReturnType<typeof reportKey>,
): Promise<Report | undefined> {
  const { Item: item } = await client.send(
    new GetCommand({ TableName: name, Key: key, ConsistentRead: true }),
  );
  return item === undefined ? undefined : reportSchema.parse(item);
}
