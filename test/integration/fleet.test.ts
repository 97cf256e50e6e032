import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { routesOf } from '../../functions/import-api/routes.ts';
import type { Service } from '../../functions/import-api/service.ts';
import { type FleetView, showFleet } from '../../functions/import-api/show-fleet.ts';
import type { Mode } from '../../shared/fleet/allowance-settings.ts';
import { openLine } from '../../shared/fleet/line.ts';
import type { PlanInput } from '../../shared/fleet/plan-input.ts';
import { addUsage, NO_USAGE, type Usage } from '../../shared/fleet/usage-item.ts';
import { haltImport } from '../../shared/imports/change-state.ts';
import { createImport } from '../../shared/imports/create-import.ts';
import { createImportId } from '../../shared/imports/import-id.ts';
import type { ImportItem } from '../../shared/imports/import-item.ts';
import { importKey } from '../../shared/imports/imports-table.ts';
import { httpHandler } from '../../shared/runtime/http-stack.ts';
import { type Engines, type Process, startEngines } from './engines.ts';
import { createFleetTable, fleetOf, PLAN_INPUT } from './fleet-service.ts';

let engines: Engines;
let usual: Process;
let imports: string;
let urls: { interactive: string; bulk: string };
/** Each test an hour of its own: what one before it wrote is long ago. */
let now = Date.parse('2026-03-01T12:00:05Z');

beforeAll(async () => {
  engines = await startEngines();
  usual = engines.newProcess();
  imports = await engines.createImportsTable();
  await createFleetTable(engines.dynamo);
  const [interactive, bulk] = [
    await engines.createQueue('interactive'),
    await engines.createQueue('bulk'),
  ];
  urls = { interactive, bulk };
});
afterAll(() => engines.stop());
beforeEach(() => {
  now += 3_600_000;
});

type Fleet = Pick<Service, 'table' | 'fleet' | 'now'>;

const fleet = (process: Process = usual, input: PlanInput = PLAN_INPUT): Fleet => ({
  table: { client: process.dynamo, name: imports },
  fleet: fleetOf(process, urls, input),
  now: () => now,
});

const secondsAgo = (seconds: number) => new Date(now - seconds * 1000).toISOString();

/** As a process adds what it did, so many seconds ago. */
async function use(mode: Mode, ago: number, usage: Partial<Usage>): Promise<void> {
  await addUsage(fleet().fleet.table, mode, { ...NO_USAGE, ...usage }, now - ago * 1000);
}

async function createPaused(mode: Mode, code: string, message: string): Promise<ImportItem> {
  const item: ImportItem = {
    importId: createImportId(now),
    name: 'Autumn',
    mode,
    state: 'running',
    hold: false,
    round: 0,
    instructions: '',
    columns: [],
    reads: 1,
    pages: {},
    createdAt: now,
    uploadBy: now,
    startedAt: now,
    updatedAt: now,
    ttl: now,
  };
  const table = { client: usual.dynamo, name: imports };
  await createImport(table, item);
  const halted = await haltImport(table, item, { now, failure: { code, message } });
  expect(halted.changed).toBe(true);
  return item;
}

test('a fleet that was never used is idle, and has its plan', async () => {
  const { plan, measured, lines, diagnosis } = await showFleet(fleet());
  expect(plan).toMatchObject({
    fleetBound: 134,
    interactive: { gate: 10, processes: 4 },
    bulk: { gate: 10, processes: 9 },
  });
  expect(plan.figures[0]).toMatchObject({ name: 'rate', reason: expect.stringMatching(/\d/) });
  expect(measured).toMatchObject({
    at: secondsAgo(5),
    interactive: { callsPerSecond: 0, inFlight: 0 },
    queues: { interactive: { depth: 0, inFlight: 0 }, bulk: { depth: 0, inFlight: 0 } },
    series: { from: secondsAgo(605), stepSeconds: 10 },
  });
  expect(lines).toEqual([{ line: 'shared', diagnosis: expect.objectContaining({ code: 'idle' }) }]);
  expect(diagnosis?.code).toBe('idle');
});

test('what processes have added up becomes rates, a series and a diagnosis', async () => {
  const second = { calls: 83, serviceMs: 66_400, inputTokens: 25_000, outputTokens: 4000 };
  for (let ago = 6; ago < 36; ago += 1) {
    await use('bulk', ago, { ...second, allowanceMs: 5000, storeOps: ago === 6 ? 100 : 0 });
  }
  await use('interactive', 300, { calls: 20, serviceMs: 16_000, refused: 10, yieldMs: 5000 });
  const { measured, diagnosis } = await showFleet(fleet());
  expect(measured.bulk).toMatchObject({
    seconds: 30,
    callsPerSecond: 83,
    inFlight: 66.4,
    serviceSeconds: 0.8,
    tokensPerSecond: 29_000,
    tokensPerCall: 349.398,
    waiting: { gate: 0, allowance: 5, yield: 0, refused: 0 },
    storeOpsPerCall: 0.04,
  });
  // It is over: of the last minute there is nothing.
  expect(measured.interactive.callsPerSecond).toBe(0);
  const { interactive, bulk } = measured.series;
  for (const each of [...Object.values(interactive), ...Object.values(bulk)]) {
    expect(each).toHaveLength(60);
  }
  expect(bulk.callsPerSecond.slice(-4)).toEqual([0, 83, 83, 83]);
  expect(bulk.inFlight.at(-1)).toBe(66.4);
  expect(interactive.refusedPerSecond.filter((each) => each > 0)).toEqual([1]);
  expect(interactive.yielding.filter((each) => each > 0)).toEqual([0.5]);
  expect(diagnosis).toMatchObject({
    code: 'quota',
    words: expect.stringContaining('83 of 83.3 a second'),
  });
});

test('the item under way is not whole, and so not told of', async () => {
  await use('bulk', 3, { calls: 100 });
  expect((await showFleet(fleet())).measured.bulk.callsPerSecond).toBe(0);
  now += 10_000;
  expect((await showFleet(fleet())).measured.bulk.callsPerSecond).toBe(10);
});

test('chunks that wait are told from those that a process has or that come back later', async () => {
  const { sqs } = engines;
  const send = (url: string, seconds = 0) =>
    sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody: '{}', DelaySeconds: seconds }));
  for (const url of [urls.bulk, urls.bulk, urls.bulk, urls.interactive]) await send(url);
  await send(urls.bulk, 900);
  await sqs.send(new ReceiveMessageCommand({ QueueUrl: urls.bulk, MaxNumberOfMessages: 1 }));
  const { measured, diagnosis } = await showFleet(fleet());
  expect(measured.queues).toEqual({
    interactive: { depth: 1, inFlight: 0 },
    bulk: { depth: 2, inFlight: 2 },
  });
  expect(diagnosis).toMatchObject({ code: 'inside', words: expect.stringMatching(/^3 chunks/) });
});

test('the state of the account is shown while it matters', async () => {
  const line = openLine(fleet().fleet.table, 'shared');
  await line.quiet(now + 12_000);
  await line.yield(now + 20_000);
  await line.cut(0.8, now - 1000, now);
  const { lines, diagnosis } = await showFleet(fleet());
  expect(lines).toMatchObject([
    {
      quietUntil: secondsAgo(-12),
      yieldUntil: secondsAgo(-20),
      cut: { to: 0.8, at: secondsAgo(1) },
    },
  ]);
  expect(diagnosis?.code).toBe('refused');
  now += 60_000;
  const [later] = (await showFleet(fleet())).lines;
  expect(later).not.toHaveProperty('quietUntil');
  expect(later).not.toHaveProperty('yieldUntil');
});

test('what the provider says of the account is held against what is configured', async () => {
  const { table } = fleet().fleet;
  const usage = { ...NO_USAGE, calls: 100, refused: 5 };
  await addUsage(table, 'bulk', usage, now - 26_000, { requests: 9000, tokens: 2_000_000 });
  await addUsage(table, 'bulk', usage, now - 16_000, { requests: 3000, tokens: 2_000_000 });
  await addUsage(table, 'bulk', usage, now - 6000);
  expect((await showFleet(fleet())).diagnosis).toMatchObject({
    code: 'refused',
    words: expect.stringContaining('5,000 requests a minute, and the provider'),
    help: ['Configure the account with 3,000 requests a minute, and deploy.'],
  });
});

test('two accounts are two lines, and the worse of them is told first', async () => {
  const own = {
    account: { requestsPerMinute: 600, tokensPerMinute: null },
    measured: PLAN_INPUT.measured,
  };
  const partition = { ...PLAN_INPUT, bulk: { batchChunks: 4, own } };
  await openLine(fleet().fleet.table, 'bulk').quiet(now + 5000);
  await use('bulk', 6, { calls: 10, serviceMs: 8000 });
  const { lines, diagnosis } = await showFleet(fleet(usual, partition));
  expect(lines.map(({ line }) => line)).toEqual(['interactive', 'bulk']);
  expect(lines[1]).toMatchObject({ quietUntil: secondsAgo(-5), diagnosis: { code: 'refused' } });
  expect(lines[0]).not.toHaveProperty('quietUntil');
  expect(diagnosis?.code).toBe('refused');
});

test('an import that nobody can go on with is the reason, until calls succeed again', async () => {
  const message = 'The provider refused the key (401): give Glimpse a valid one, then resume.';
  const { importId } = await createPaused('bulk', 'key-refused', message);
  expect((await showFleet(fleet())).diagnosis).toMatchObject({
    code: 'stopped',
    words: expect.stringContaining(message),
  });
  await use('bulk', 6, { calls: 10, serviceMs: 8000 });
  expect((await showFleet(fleet())).diagnosis?.code).not.toBe('stopped');
  now += 600_000;
  expect((await showFleet(fleet())).diagnosis?.code).toBe('stopped');
  // Whoever goes on with it has acted.
  await engines.dynamo.send(
    new UpdateCommand({
      TableName: imports,
      Key: importKey(importId),
      UpdateExpression: 'SET #state = :state',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':state': 'running' },
    }),
  );
  expect((await showFleet(fleet())).diagnosis?.code).not.toBe('stopped');
});

test('an import that a person paused, or whose own bound is reached, stops nobody', async () => {
  await createPaused('bulk', 'budget-spent', 'Its budget is spent.');
  expect((await showFleet(fleet())).diagnosis?.code).not.toBe('stopped');
});

test('a request is four reads and two counts, and one fewer while calls succeed', async () => {
  const counted = async () => {
    const process = engines.newProcess();
    await showFleet(fleet(process));
    return process.calls.sort();
  };
  const busy = ['GetItem', 'GetQueueAttributes', 'GetQueueAttributes', 'Query', 'Query'];
  expect(await counted()).toEqual([...busy, 'Query']);
  await use('bulk', 6, { calls: 10 });
  expect(await counted()).toEqual(busy);
});

test('the route answers it as it is now, to nobody with a question of their own', async () => {
  const tools = {
    logger: new Logger({ logLevel: 'SILENT' }),
    metrics: new Metrics({ namespace: 'test', serviceName: 'test' }),
  };
  const ask = async (rawQueryString: string) => {
    const event = { routeKey: 'GET /fleet', rawQueryString, headers: {} };
    const handler = httpHandler(
      routesOf(() => fleet() as Service),
      tools,
    );
    return await handler(event as APIGatewayProxyEventV2, { awsRequestId: 'id' } as Context);
  };
  const answer = await ask('');
  expect(answer).toMatchObject({ statusCode: 200, headers: { 'cache-control': 'no-store' } });
  const view: FleetView = JSON.parse(answer.body ?? '');
  expect(view.diagnosis?.words).toMatch(/\.$/);
  expect((answer.body ?? '').length).toBeLessThan(20_000);
  expect(await ask('since=1')).toMatchObject({ statusCode: 400 });
});
