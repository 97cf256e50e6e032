// Ours and two usual designs for the rows of an import, on the same simulated provider and the same
// engines, in one run and one process: makespan, and what each row costs in calls.
//
//   npm run bench:imports -- [rows=812]
//
// - a row at a time: ten workers, each calls, writes the row, adds to a counter, takes the next;
// - a job a row: a message for each row; ten consumers call, write, add to a counter, delete;
// - ours: ten workers, a gate of ten calls each, a message for 50 rows.
//
// Then how full the gates are: twenty workers of ten calls, by the provider's own ledger.
import { setTimeout as sleep } from 'node:timers/promises';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import {
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
} from '@aws-sdk/client-sqs';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createGate } from '../functions/chunk-worker/gate.ts';
import { summariseChunk } from '../functions/chunk-worker/summarise-chunk.ts';
import { readSource } from '../functions/import-intake/read-source.ts';
import type { Call } from '../local/provider/ledger.ts';
import { startSimulatorProcess } from '../local/provider/simulator-process.ts';
import { createAllowance } from '../shared/fleet/allowance.ts';
import { openLine } from '../shared/fleet/line.ts';
import { createImport } from '../shared/imports/create-import.ts';
import { createImportId } from '../shared/imports/import-id.ts';
import { isOver } from '../shared/imports/import-item.ts';
import { sourceKey } from '../shared/imports/import-objects.ts';
import { readImport } from '../shared/imports/imports-table.ts';
import { parseChunkWork } from '../shared/messages/chunk-work.ts';
import { createProvider } from '../shared/summaries/create-provider.ts';
import { buildPrompt } from '../shared/summaries/prompt.ts';
import type { Provider } from '../shared/summaries/provider.ts';
import { type Engines, IMPORTS, type Process, startEngines } from '../test/integration/engines.ts';

const ROWS = Number(process.argv[2] ?? 812);
const SERVICE_MS = 800;
const WORKERS = 10;
const GATE = 10;
const PROMPT = { inputCharacters: 8000, outputTokens: 200 };
const INSTRUCTIONS = 'Summarise this row of a catalogue in two sentences.';
/** Far more than the workers could use: what is measured are the gates. */
const ACCOUNT = {
  line: 'shared',
  requestsPerMinute: 600_000,
  tokensPerMinute: null,
  interactiveShare: 0,
  frameSeconds: 2,
  reserve: 0.1,
} as const;
const PRICES = { inputUsdPerMillion: 0.4, outputUsdPerMillion: 1.6 };

const nameOf = (row: number) => `Oak table ${row}, oiled, 180 by 90 cm`;

interface Provided {
  url: string;
  connect: (connections: number) => Promise<Provider>;
  clear: () => Promise<void>;
  ledger: () => Promise<Call[]>;
}

async function main(): Promise<void> {
  const engines = await startEngines();
  const simulator = await startSimulatorProcess({
    latency: { kind: 'log-normal', meanMs: SERVICE_MS, sigma: 0.2 },
    account: null,
    seed: 1,
  });
  try {
    const provided: Provided = {
      url: simulator.url,
      connect: (connections) =>
        createProvider(
          {
            kind: 'openai',
            model: 'bench',
            baseUrl: `${simulator.url}/v1`,
            callTimeoutMs: 30_000,
            connections,
            outputLimit: 'max_tokens',
          },
          'bench',
        ),
      clear: async () => void (await fetch(`${simulator.url}/ledger`, { method: 'DELETE' })),
      ledger: async () => {
        const text = await (await fetch(`${simulator.url}/ledger`)).text();
        return text
          .trim()
          .split('\n')
          .map((line): Call => JSON.parse(line));
      },
    };
    await compare(engines, provided);
    await fill(engines, provided);
  } finally {
    await simulator.stop();
    await engines.stop();
  }
}

interface Run {
  name: string;
  seconds: number;
  process: Process;
  messages: number;
}

async function compare(engines: Engines, provided: Provided): Promise<void> {
  const runs = [
    await rowAtATime(engines, provided),
    await jobARow(engines, provided),
    await ours(engines, provided, { rows: ROWS, workers: WORKERS, batch: 1 }),
  ];
  const best = runs.at(-1)?.seconds ?? 1;
  console.log(`\n${ROWS} rows, ${SERVICE_MS} ms a call, ${WORKERS} workers\n`);
  console.log(
    '| design | makespan s | ÷ ours | store writes a row | store reads a row | queue calls a row | messages |',
  );
  console.log(
    '|--------|-----------:|-------:|-------------------:|------------------:|------------------:|---------:|',
  );
  for (const {
    name,
    seconds,
    process: { calls },
    messages,
  } of runs) {
    const of = (...names: string[]) =>
      (calls.filter((call) => names.includes(call)).length / ROWS).toFixed(2);
    console.log(
      `| ${name} | ${seconds.toFixed(1)} | ${(seconds / best).toFixed(1)} | ${of('PutItem', 'UpdateItem')} | ${of('GetItem', 'Query')} | ${of('SendMessage', 'SendMessageBatch', 'ReceiveMessage', 'DeleteMessage', 'DeleteMessageBatch')} | ${messages} |`,
    );
  }
}

async function summarise(provider: Provider, row: number, of: string): Promise<string> {
  const { system, input, maxOutputTokens } = buildPrompt(
    INSTRUCTIONS,
    [{ name: 'name', value: nameOf(row) }],
    PROMPT,
  );
  const request = { system, input, maxOutputTokens, row: `${of}/${row}` };
  const { text } = await provider.complete(request, AbortSignal.timeout(30_000));
  return text;
}

async function rowAtATime(engines: Engines, provided: Provided): Promise<Run> {
  const table = await engines.createImportsTable();
  const process = engines.newProcess();
  const provider = await provided.connect(WORKERS);
  const started = performance.now();
  let next = 1;
  await together(WORKERS, async () => {
    for (let row = next++; row <= ROWS; row = next++) {
      await writeAndCount(process, table, row, await summarise(provider, row, 'row-at-a-time'));
    }
  });
  provider.close();
  return {
    name: 'a row at a time',
    seconds: (performance.now() - started) / 1000,
    process,
    messages: 0,
  };
}

async function jobARow(engines: Engines, provided: Provided): Promise<Run> {
  const table = await engines.createImportsTable();
  const url = await engines.createQueue('job-a-row');
  const process = engines.newProcess();
  const provider = await provided.connect(WORKERS);
  const started = performance.now();
  for (let first = 1; first <= ROWS; first += 10) {
    const rows = Array.from(
      { length: Math.min(10, ROWS - first + 1) },
      (_, index) => first + index,
    );
    await process.sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: url,
        Entries: rows.map((row) => ({ Id: String(row), MessageBody: String(row) })),
      }),
    );
  }
  let done = 0;
  await together(WORKERS, async () => {
    while (done < ROWS) {
      const { Messages: messages = [] } = await process.sqs.send(
        new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 1, WaitTimeSeconds: 1 }),
      );
      for (const { Body: body, ReceiptHandle: receipt } of messages) {
        const row = Number(body);
        await writeAndCount(process, table, row, await summarise(provider, row, 'job-a-row'));
        await process.sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: receipt }));
        done += 1;
      }
    }
  });
  provider.close();
  return {
    name: 'a job a row',
    seconds: (performance.now() - started) / 1000,
    process,
    messages: ROWS,
  };
}

async function writeAndCount(
  { dynamo }: Process,
  table: string,
  row: number,
  summary: string,
): Promise<void> {
  await dynamo.send(
    new PutCommand({ TableName: table, Item: { pk: 'naive', sk: `row/${row}`, summary } }),
  );
  await dynamo.send(
    new UpdateCommand({
      TableName: table,
      Key: { pk: 'naive', sk: 'count' },
      UpdateExpression: 'ADD #done :one',
      ExpressionAttributeNames: { '#done': 'done' },
      ExpressionAttributeValues: { ':one': 1 },
    }),
  );
}

let queues = 0;

/** The verbs of the functions, and a poller for each worker as Lambda has them. */
async function ours(
  engines: Engines,
  provided: Provided,
  { rows, workers, batch }: { rows: number; workers: number; batch: number },
): Promise<Run> {
  const process = engines.newProcess();
  const table = { client: process.dynamo, name: await engines.createImportsTable() };
  queues += 1;
  const queue = { client: process.sqs, url: await engines.createQueue(`ours-${queues}`) };
  const bucket = { client: process.s3, name: IMPORTS };
  const importId = createImportId(Date.now());
  const lines = Array.from({ length: rows }, (_, index) => `${index + 1},"${nameOf(index + 1)}"`);
  const key = sourceKey(importId);
  const { ETag: etag = '' } = await engines.s3.send(
    new PutObjectCommand({ Bucket: IMPORTS, Key: key, Body: `id,name\n${lines.join('\n')}\n` }),
  );
  const started = performance.now();
  const now = Date.now();
  await createImport(table, {
    importId,
    name: 'bench.csv',
    mode: 'bulk',
    state: 'awaiting-upload',
    hold: false,
    round: 0,
    instructions: INSTRUCTIONS,
    columns: ['name'],
    reads: 0,
    pages: {},
    createdAt: now,
    uploadBy: now + 3_600_000,
    updatedAt: now,
    ttl: Math.floor(now / 1000) + 86_400,
  });
  await readSource(
    {
      table,
      bucket,
      queues: { interactive: queue, bulk: queue },
      limits: { maxBytes: 1e9, maxRows: 1e6, maxColumns: 500, maxFieldCharacters: 100_000 },
      chunkRows: 50,
      prompt: PROMPT,
      prices: PRICES,
      now: Date.now,
    },
    { key, etag: etag.replaceAll('"', '') },
    Date.now() + 900_000,
  );
  let over = false;
  const fleet = { client: engines.dynamo, name: await engines.createFleetTable() };
  await together(workers, async () => {
    const provider = await provided.connect(GATE);
    const bench = {
      table,
      bucket,
      queue,
      provider: async () => provider,
      limits: PROMPT,
      prices: PRICES,
      callTimeoutMs: 30_000,
      gate: createGate(GATE),
      allowance: createAllowance({
        settings: ACCOUNT,
        mode: 'bulk',
        line: openLine(fleet, 'shared'),
        time: { now: Date.now, heard: () => {}, askIn: () => undefined },
        sleep: (ms, signal) => sleep(ms, undefined, { signal }),
        random: Math.random,
        onStoreError: console.error,
      }),
      yielding: { restMs: () => 0 },
      meter: {
        answered: () => {},
        erred: () => {},
        waited: () => {},
        writeWhole: async () => {},
        writeAll: async () => {},
      },
      now: Date.now,
      sleep,
      random: Math.random,
      rowFailed: () => {},
      callFailed: () => {},
      completed: () => {
        over = true;
      },
    };
    while (!over) {
      const { Messages: messages = [] } = await process.sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: queue.url,
          MaxNumberOfMessages: batch,
          WaitTimeSeconds: 1,
          VisibilityTimeout: 720,
        }),
      );
      if (messages.length === 0) continue;
      const deadline = Date.now() + 120_000;
      await Promise.all(
        messages.map(({ Body: body = '' }) =>
          summariseChunk(bench, parseChunkWork(body), deadline),
        ),
      );
      await process.sqs.send(
        new DeleteMessageBatchCommand({
          QueueUrl: queue.url,
          Entries: messages.map(({ ReceiptHandle: receipt }, index) => ({
            Id: String(index),
            ReceiptHandle: receipt,
          })),
        }),
      );
    }
    provider.close();
  });
  const seconds = (performance.now() - started) / 1000;
  const item = await readImport(table, importId);
  if (item === undefined || !isOver(item.state)) throw new Error('The import is not over.');
  return { name: 'ours', seconds, process, messages: Math.ceil(rows / 50) };
}

/** Calls in flight by the ledger, without the ends of the run, against what is configured. */
async function fill(engines: Engines, provided: Provided): Promise<void> {
  console.log(`\n${SERVICE_MS} ms a call, by the provider's ledger\n`);
  console.log(
    '| workers × gate | rows | calls a second | × service time | ÷ configured | most in flight |',
  );
  console.log(
    '|---------------:|-----:|---------------:|---------------:|-------------:|---------------:|',
  );
  for (const workers of [5, 10, 20]) {
    await provided.clear();
    const rows = workers * 400;
    await ours(engines, provided, { rows, workers, batch: 4 });
    const calls = await provided.ledger();
    const begun = calls.map(({ start }) => start).sort((a, b) => a - b);
    const from = begun[Math.floor(rows * 0.1)] ?? 0;
    const to = begun[Math.floor(rows * 0.8)] ?? 0;
    const within = calls.filter(({ end }) => end >= from && end < to);
    const service = within.reduce((all, { start, end }) => all + end - start, 0) / within.length;
    const rate = within.length / (to - from);
    const configured = workers * GATE;
    console.log(
      `| ${workers} × ${GATE} | ${rows} | ${(rate * 1000).toFixed(0)} | ${(rate * service).toFixed(1)} | ${((rate * service) / configured).toFixed(3)} | ${mostInFlight(calls)} |`,
    );
  }
}

function mostInFlight(calls: readonly Call[]): number {
  const events = calls.flatMap(({ start, end }) => [
    { at: start, change: 1 },
    { at: end, change: -1 },
  ]);
  // What ends at the moment at which another begins is over.
  events.sort((a, b) => a.at - b.at || a.change - b.change);
  let inFlight = 0;
  return events.reduce((most, { change }) => {
    inFlight += change;
    return Math.max(most, inFlight);
  }, 0);
}

async function together(workers: number, work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: workers }, work));
}

await main();
