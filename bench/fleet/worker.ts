// A process of a fleet: does rows as the chunk worker does, and reports each second. Started by
// fleet.ts with its task in TASK; it ends when it is told to, when it has no parent any more, or when
// its rows are done.
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createGate } from '../../functions/chunk-worker/gate.ts';
import { createMeter } from '../../functions/chunk-worker/meter.ts';
import { summariseRow } from '../../functions/chunk-worker/summarise-row.ts';
import type { Workbench } from '../../functions/chunk-worker/workbench.ts';
import { createYielding } from '../../functions/chunk-worker/yielding.ts';
import { createAllowance } from '../../shared/fleet/allowance.ts';
import { openLine } from '../../shared/fleet/line.ts';
import { createTrueTime } from '../../shared/fleet/true-time.ts';
import { addUsage } from '../../shared/fleet/usage-item.ts';
import { createImportId } from '../../shared/imports/import-id.ts';
import { listenForDates } from '../../shared/runtime/clients.ts';
import { createProvider } from '../../shared/summaries/create-provider.ts';
import { createPeer } from './limiters.ts';
import { type Report, taskSchema } from './messages.ts';

const task = taskSchema.parse(JSON.parse(process.env.TASK ?? ''));
const realNow = Date.now;
Date.now = () => realNow() + task.skewMs;

const aws = { region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
const report: Report = { done: 0, storeOps: 0, rowMs: [], waitMs: [], over: false };
const tell = () => {
  if (process.connected) process.send?.(report, () => {});
};
setInterval(tell, 1000);

const raw = new DynamoDB({ ...aws, endpoint: task.dynamodb });
raw.middlewareStack.add(
  (next) => (args) => {
    report.storeOps += 1;
    return next(args);
  },
  { step: 'initialize', name: 'count' },
);
const time = createTrueTime(Date.now);
listenForDates(raw, time.heard);
const dynamo = DynamoDBDocumentClient.from(raw);
const fleet = { client: dynamo, name: task.tables.fleet };
const provider = await createProvider(
  {
    kind: 'openai',
    model: 'gpt-4.1-mini',
    baseUrl: `${task.provider}/v1`,
    outputLimit: 'max_completion_tokens',
    callTimeoutMs: 30_000,
    connections: task.gate,
  },
  `sk-${task.mode}`,
);
const allowance =
  task.limiter === 'ours'
    ? createAllowance({
        settings: task.settings,
        mode: task.mode,
        line: openLine(fleet, 'shared'),
        time,
        sleep: (ms, signal) => sleep(ms, undefined, { signal }),
        random: Math.random,
        onStoreError: console.error,
      })
    : await createPeer(task.limiter, {
        requestsPerMinute: task.settings.requestsPerMinute,
        processes: task.processes,
        dynamo: raw,
        table: task.tables.peers,
      });
const unused = () => {
  throw new Error('A row alone does not need this.');
};
const bench: Workbench = {
  table: { client: dynamo, name: 'none' },
  bucket: { client: new S3Client(aws), name: 'none' },
  queue: { client: new SQSClient(aws), url: 'none' },
  provider: async () => provider,
  limits: { inputCharacters: 8000, outputTokens: 200 },
  prices: { inputUsdPerMillion: 0, outputUsdPerMillion: 0 },
  callTimeoutMs: 30_000,
  gate: createGate(task.gate),
  allowance,
  yielding: createYielding(task.settings.reserve),
  meter: createMeter({
    write: (usage, at) =>
      task.limiter === 'ours' ? addUsage(fleet, task.mode, usage, at) : Promise.resolve(),
    storeOps: () => allowance.storeOps,
    now: time.now,
    random: Math.random,
    onError: console.error,
  }),
  now: Date.now,
  sleep: (ms) => sleep(task.impatient ? 100 + Math.random() * 100 : ms),
  random: Math.random,
  completed: unused,
  rowFailed: () => {},
  callFailed: () => {},
};

let stopped = false;
process.on('message', () => {
  stopped = true;
});
process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => process.exit(0));

const importId = createImportId(realNow());
const now = realNow();
const item = {
  importId,
  name: task.name,
  mode: task.mode,
  state: 'running' as const,
  hold: false,
  round: 0,
  instructions: 'Summarise this row of a catalogue in two sentences.',
  columns: [],
  header: ['id', 'name', 'description'],
  reads: 1,
  pages: {},
  createdAt: now,
  uploadBy: now,
  updatedAt: now,
  ttl: Math.floor(now / 1000) + 86_400,
};

let next = 1;
async function rows(): Promise<void> {
  while (!stopped && (task.rows === undefined || next <= task.rows)) {
    const row = next++;
    const began = realNow();
    const waits = { gateMs: 0, allowanceMs: 0, yieldMs: 0, refusedMs: 0 };
    const outcome = await summariseRow(bench, {
      item: { ...item, importId: `${task.name}-${process.pid}` },
      chunk: 1,
      row: {
        row,
        line: row + 1,
        id: String(row),
        cells: [
          String(row),
          `Oak table ${row}`,
          'A table of solid oak for six, 180 by 90 cm, oiled.',
        ],
      },
      tries: 0,
      deadline: Date.now() + 600_000,
      waits,
      rest: async (ms) => {
        await bench.sleep(ms);
      },
      goOn: () => !stopped,
      stop: unused,
    });
    if (outcome.kind !== 'written' || outcome.item.state !== 'done') continue;
    report.done += 1;
    report.rowMs.push(realNow() - began);
    report.waitMs.push(waits.allowanceMs + waits.yieldMs + waits.refusedMs);
  }
}
await Promise.all(Array.from({ length: task.gate }, rows));
report.over = true;
await new Promise<void>((resolve) => {
  if (!process.connected) resolve();
  else process.send?.(report, () => resolve());
});
process.exit(0);
