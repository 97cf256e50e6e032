// How intake grows: seconds, memory and calls a row for files of a thousand to a million rows. Intake
// runs in a process of its own, so that its memory is its own, with the heap that a function of
// MEMORY_MB has: how much garbage waits to be collected depends on it.
//
//   npm run bench:intake -- [most rows=1000000] [bytes a row=90]
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Upload } from '@aws-sdk/lib-storage';
import { z } from 'zod';
import { readSource } from '../functions/import-intake/read-source.ts';
import { createImport } from '../shared/imports/create-import.ts';
import { createImportId } from '../shared/imports/import-id.ts';
import { sourceKey } from '../shared/imports/import-objects.ts';
import { type Engines, IMPORTS, startEngines } from '../test/integration/engines.ts';

const MOST = Number(process.argv[2] ?? 1_000_000);
const ROW_BYTES = Number(process.argv[3] ?? 90);
/** As configured for intake. */
const MEMORY_MB = 1769;
/** As the bootstrap of Lambda's Node runtime divides a function's memory. */
const YOUNG_MB = Math.floor(MEMORY_MB / 20);
const HEAP = [
  `--max-semi-space-size=${Math.floor(YOUNG_MB / 3)}`,
  `--max-old-space-size=${MEMORY_MB - 2 * YOUNG_MB}`,
];
const aws = { region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };

const taskSchema = z.object({
  s3: z.string(),
  dynamodb: z.string(),
  table: z.string(),
  queueUrl: z.string(),
  key: z.string(),
  etag: z.string(),
});

const resultSchema = z.object({
  outcome: z.looseObject({ kind: z.string() }),
  seconds: z.number(),
  peakMb: z.number(),
  calls: z.record(z.string(), z.number()),
});

async function main(): Promise<void> {
  const engines = await startEngines();
  try {
    console.log(
      '| rows | MB | seconds | rows a second | peak MB | S3 puts a row | messages a row | store calls a row |',
    );
    console.log(
      '|-----:|---:|--------:|--------------:|--------:|--------------:|---------------:|------------------:|',
    );
    for (let rows = 1000; rows <= MOST; rows *= 10) await measure(engines, rows);
  } finally {
    await engines.stop();
  }
}

async function measure(engines: Engines, rows: number): Promise<void> {
  const table = await engines.createImportsTable();
  const queueUrl = await engines.createQueue(`intake-${rows}`);
  const importId = createImportId(Date.now());
  const now = Date.now();
  await createImport(
    { client: engines.dynamo, name: table },
    {
      importId,
      name: 'bench.csv',
      mode: 'bulk',
      state: 'awaiting-upload',
      hold: false,
      round: 0,
      instructions: 'Summarise.',
      columns: [],
      reads: 0,
      pages: {},
      createdAt: now,
      uploadBy: now + 3_600_000,
      updatedAt: now,
      ttl: Math.floor(now / 1000) + 86_400,
    },
  );
  const key = sourceKey(importId);
  const sentence = 'A table of solid oak for six, 180 by 90 cm. ';
  const description = sentence.repeat(Math.max(1, Math.round((ROW_BYTES - 45) / sentence.length)));
  const row = (index: number) =>
    `${index},"Oak table ${index}, oiled","${description}",${index % 900}.00\n`;
  let bytes = 0;
  const text = function* () {
    yield 'id,name,description,price\n';
    for (let index = 1; index <= rows; index++) {
      const line = row(index);
      bytes += line.length;
      yield line;
    }
  };
  const upload = new Upload({
    client: engines.s3,
    params: { Bucket: IMPORTS, Key: key, Body: Readable.from(text(), { objectMode: false }) },
  });
  const { ETag: etag = '' } = await upload.done();
  const task = {
    s3: engines.s3Endpoint,
    dynamodb: engines.dynamoEndpoint,
    table,
    queueUrl,
    key,
    etag: etag.replaceAll('"', ''),
  };
  const self = [...HEAP, import.meta.filename, 'intake'];
  const { stdout } = await promisify(execFile)(process.execPath, self, {
    env: { ...process.env, TASK: JSON.stringify(task) },
    maxBuffer: 10_000_000,
  });
  const { outcome, seconds, peakMb, calls } = resultSchema.parse(JSON.parse(stdout));
  if (outcome.kind !== 'read') throw new Error(`Intake came to ${JSON.stringify(outcome)}.`);
  const a = (...names: string[]) =>
    (names.reduce((all, name) => all + (calls[name] ?? 0), 0) / rows).toFixed(4);
  console.log(
    `| ${rows} | ${Math.round(bytes / 1e6)} | ${seconds.toFixed(1)} | ${Math.round(rows / seconds)} | ${peakMb} | ${a('PutObject')} | ${a('SendMessageBatch')} | ${a('GetItem', 'PutItem', 'UpdateItem', 'Query')} |`,
  );
}

/**
 * Megabytes. `maxRSS` would not do: a process inherits it from the one that started it, which here
 * holds the whole file for S3.
 */
function peakMemory(): number {
  const [, kilobytes = ''] =
    /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

/** In the process that is measured. */
async function intake(): Promise<void> {
  const task = taskSchema.parse(JSON.parse(process.env.TASK ?? ''));
  const calls: Record<string, number> = {};
  const s3 = new S3Client({
    ...aws,
    endpoint: task.s3,
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const sqs = new SQSClient({ ...aws, endpoint: task.s3 });
  const dynamo = new DynamoDBClient({ ...aws, endpoint: task.dynamodb });
  const count = <Args, Answer>(
    next: (args: Args) => Answer,
    { commandName = '' }: { commandName?: string },
  ) => {
    const name = commandName.replace(/Command$/, '');
    return (args: Args): Answer => {
      calls[name] = (calls[name] ?? 0) + 1;
      return next(args);
    };
  };
  const options = { step: 'initialize', name: 'count' } as const;
  s3.middlewareStack.add(count, options);
  sqs.middlewareStack.add(count, options);
  dynamo.middlewareStack.add(count, options);
  const queue = { client: sqs, url: task.queueUrl };
  const started = performance.now();
  const outcome = await readSource(
    {
      table: { client: DynamoDBDocumentClient.from(dynamo), name: task.table },
      bucket: { client: s3, name: IMPORTS },
      queues: { interactive: queue, bulk: queue },
      limits: { maxBytes: 5e9, maxRows: 1e7, maxColumns: 500, maxFieldCharacters: 100_000 },
      chunkRows: 50,
      prompt: { inputCharacters: 8000, outputTokens: 200 },
      prices: { inputUsdPerMillion: 0.4, outputUsdPerMillion: 1.6 },
      now: Date.now,
    },
    task,
    Date.now() + 900_000,
  );
  const seconds = (performance.now() - started) / 1000;
  const peakMb = peakMemory();
  process.stdout.write(JSON.stringify({ outcome, seconds, peakMb, calls }));
}

await (process.argv[2] === 'intake' ? intake() : main());
