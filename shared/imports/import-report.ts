import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { delimiterSchema } from './csv/delimiter.ts';
import { encodingSchema } from './csv/encoding.ts';
import type { CsvReport } from './csv/read-csv.ts';
import { type ImportsTable, reportKey } from './imports-table.ts';

// What was understood of a file. An item of its own, as workers read the import often and this never.

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
});

export type Report = z.infer<typeof reportSchema>;

/** DynamoDB takes 400 KB an item. */
const MOST_BYTES = 350_000;

export async function writeReport(
  { client, name }: ImportsTable,
  importId: string,
  report: CsvReport,
  ttl: number,
): Promise<void> {
  const small = Buffer.byteLength(JSON.stringify(report)) <= MOST_BYTES;
  const columns = report.columns.map((column) => ({ ...column, samples: [] }));
  await client.send(
    new PutCommand({
      TableName: name,
      Item: { ...reportKey(importId), ...report, ...(small ? {} : { columns }), ttl },
    }),
  );
}

export async function readReport(
  { client, name }: ImportsTable,
  importId: string,
): Promise<Report | undefined> {
  const { Item: item } = await client.send(
    new GetCommand({ TableName: name, Key: reportKey(importId) }),
  );
  return item === undefined ? undefined : reportSchema.parse(item);
}
