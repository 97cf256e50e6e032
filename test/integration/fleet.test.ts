import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { PurgeQueueCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { routesOf } from '../../functions/import-api/routes.ts';
import type { Service, SharedService } from '../../functions/import-api/service.ts';
import { type FleetView, showFleet } from '../../functions/import-api/show-fleet.ts';
import type { Caller } from '../../shared/access/caller.ts';
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
import { PLAN_INPUT } from '../plan-input.ts';
import { type Engines, type Process, startEngines } from './engines.ts';
import { createFleetTable, fleetOf } from './fleet-service.ts';

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
beforeEach(async () => {
  now += 3_600_000;
  for (const url of Object.values(urls)) {
    await engines.sqs.send(new PurgeQueueCommand({ QueueUrl: url }));
  }
});

type Fleet = Pick<Service, 'caller' | 'table' | 'fleet' | 'now'>;

const somebody = (owner: string, operator = false): Caller => ({
  id: owner,
  owner,
  views: 'all',
  uploads: 'all',
  operator,
});

const fleet = (process: Process = usual, input: PlanInput = PLAN_INPUT): Fleet => ({
  caller: somebody('sub:operator', true),
  table: { client: process.dynamo, name: imports },
  fleet: fleetOf(process, urls, input),
  now: () => now,
});

const secondsAgo = (seconds: number) => new Date(now - seconds * 1000).toISOString();

/** As a process adds what it did, so many seconds ago. */
async function use(mode: Mode, ago: number, usage: Partial<Usage>): Promise<void> {
  await addUsage(fleet().fleet.table, mode, { ...NO_USAGE, ...usage }, now - ago * 1000);
}

const send = (url: string, seconds = 0) =>
  engines.sqs.send(
    new SendMessageCommand({ QueueUrl: url, MessageBody: '{}', DelaySeconds: seconds }),
  );

async function createRunning(mode: Mode, owner?: string): Promise<ImportItem> {
  const item: ImportItem = {
    importId: createImportId(now),
    ...(owner === undefined ? {} : { owner }),
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
  await createImport({ client: usual.dynamo, name: imports }, item);
  return item;
}

async function createPaused(
  mode: Mode,
  code: string,
  message: string,
  owner?: string,
): Promise<ImportItem> {
  const item = await createRunning(mode, owner);
  const table = { client: usual.dynamo, name: imports };
  const halted = await haltImport(table, item, { now, failure: { code, message } });
  expect(halted.changed).toBe(true);
  return item;
}

/** Ends it, as its last chunk would. */
const end = ({ importId }: ImportItem, state = 'completed') =>
  engines.dynamo.send(
    new UpdateCommand({
      TableName: imports,
      Key: importKey(importId),
      UpdateExpression: 'SET #state = :state',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':state': state },
    }),
  );

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
  await send(urls.bulk);
  // From the middle of an item on, which is left out.
  for (let ago = 6; ago < 41; ago += 1) {
    const once = ago === 6 ? { storeOps: 100, processes: 1 } : {};
    await use('bulk', ago, { ...second, allowanceMs: 5000, ...once });
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
  expect(bulk.callsPerSecond.slice(-5)).toEqual([0, 41.5, 83, 83, 83]);
  expect(measured.bulk.processes).toBeCloseTo(1 / 3);
  expect(bulk.inFlight.at(-1)).toBe(66.4);
  expect(interactive.refusedPerSecond.filter((each) => each > 0)).toEqual([1]);
  expect(interactive.yielding.filter((each) => each > 0)).toEqual([0.5]);
  expect(diagnosis).toMatchObject({
    code: 'quota',
    words: expect.stringContaining('83 of 83.3 a second'),
  });
});

test('the item under way is not whole, and so not told of but that work has begun', async () => {
  await send(urls.bulk);
  await use('bulk', 12, { calls: 40 });
  await use('bulk', 3, { calls: 100 });
  const { measured, diagnosis } = await showFleet(fleet());
  expect(measured.bulk).toMatchObject({ seconds: 0, callsPerSecond: 0 });
  expect(diagnosis).toMatchObject({
    code: 'starting',
    words: 'Work has just begun: what limits it is known in about 8 s.',
  });
  now += 7999;
  expect((await showFleet(fleet())).measured.bulk.callsPerSecond).toBe(0);
  now += 1;
  expect((await showFleet(fleet())).measured.bulk.callsPerSecond).toBe(10);
});

test('chunks that wait are told from those that a process has or that come back later', async () => {
  for (const url of [urls.bulk, urls.bulk, urls.bulk, urls.interactive]) await send(url);
  await send(urls.bulk, 900);
  await engines.sqs.send(
    new ReceiveMessageCommand({ QueueUrl: urls.bulk, MaxNumberOfMessages: 1 }),
  );
  const { measured, diagnosis } = await showFleet(fleet());
  expect(measured.queues).toEqual({
    interactive: { depth: 1, inFlight: 0 },
    bulk: { depth: 2, inFlight: 2 },
  });
  expect(diagnosis).toMatchObject({ code: 'inside', words: expect.stringMatching(/^3 chunks/) });
});

test('the state of the account is shown while it matters', async () => {
  await send(urls.bulk);
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
  await send(urls.bulk);
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
  await send(urls.bulk);
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
  const paused = await createPaused('bulk', 'key-refused', message);
  expect((await showFleet(fleet())).diagnosis).toMatchObject({
    code: 'stopped',
    words: expect.stringContaining(message),
  });
  // Others are.
  await send(urls.bulk);
  for (const ago of [6, 16]) await use('bulk', ago, { calls: 10, serviceMs: 8000 });
  expect((await showFleet(fleet())).diagnosis?.code).not.toBe('stopped');
  now += 600_000;
  expect((await showFleet(fleet())).diagnosis?.code).toBe('stopped');
  // Another that was completed since says that calls succeed again.
  now += 1000;
  const other = await createRunning('bulk');
  expect((await showFleet(fleet())).diagnosis?.code).not.toBe('stopped');
  await end(other);
  expect((await showFleet(fleet())).diagnosis?.code).not.toBe('stopped');
  // Whoever goes on with it has acted.
  await end(paused, 'running');
  expect((await showFleet(fleet())).diagnosis?.code).not.toBe('stopped');
  await end(paused);
});

test('an import that has just been started is no trouble, and one that has ended is none either', async () => {
  const begun = await createRunning('interactive');
  now += 2000;
  await send(urls.interactive);
  expect((await showFleet(fleet())).diagnosis?.code).toBe('starting');
  now += 90_000;
  expect((await showFleet(fleet())).diagnosis?.code).toBe('inside');
  for (const ago of [6, 16, 26]) await use('interactive', ago, { calls: 500, serviceMs: 400_000 });
  await engines.sqs.send(new PurgeQueueCommand({ QueueUrl: urls.interactive }));
  expect((await showFleet(fleet())).diagnosis?.code).toBe('producer');
  await end(begun);
  expect((await showFleet(fleet())).diagnosis).toMatchObject({
    code: 'idle',
    words: 'All work is done: nothing waits, and the last calls ended just now.',
  });
});

test('an import that a person paused, or whose own bound is reached, stops nobody', async () => {
  const paused = await createPaused('bulk', 'budget-spent', 'Its budget is spent.');
  expect((await showFleet(fleet())).diagnosis).toMatchObject({
    code: 'idle',
    words: 'Nothing waits: the import “Autumn” has yet to be started or resumed.',
  });
  await end(paused);
});

test('what a paused import is called is told to its owner and to operators alone', async () => {
  const told = async (caller: Caller) => JSON.stringify(await showFleet({ ...fleet(), caller }));
  const askers = [somebody('sub:ada'), somebody('sub:op', true), somebody('sub:eve')];
  for (const code of ['budget-spent', 'key-refused']) {
    const paused = await createPaused('bulk', code, 'It ended.', 'sub:ada');
    const answers = await Promise.all(askers.map(told));
    expect(answers.map((answer) => answer.includes('Autumn'))).toEqual([true, true, false]);
    expect(answers[2]).toMatch(/an import (is paused|has yet to be started)/i);
    expect(answers[2]).toMatch(/owner can resume it|by its owner/);
    await end(paused);
  }
});

test('a request is five reads and two counts, and two fewer while calls and queues say enough', async () => {
  const counted = async () => {
    const process = engines.newProcess();
    await showFleet(fleet(process));
    return process.calls.sort();
  };
  const busy = ['GetItem', 'GetQueueAttributes', 'GetQueueAttributes', 'Query', 'Query'];
  expect(await counted()).toEqual([...busy, 'Query', 'Query']);
  for (const ago of [6, 16]) await use('bulk', ago, { calls: 10 });
  // There may be no more to do.
  expect(await counted()).toEqual([...busy, 'Query', 'Query']);
  await send(urls.bulk);
  expect(await counted()).toEqual(busy);
  // Nobody is seen who does this.
  await send(urls.interactive);
  expect(await counted()).toEqual([...busy, 'Query', 'Query']);
});

test('the route answers it as it is now, to nobody with a question of their own', async () => {
  const tools = {
    logger: new Logger({ logLevel: 'SILENT' }),
    metrics: new Metrics({ namespace: 'test', serviceName: 'test' }),
  };
  const ask = async (rawQueryString: string) => {
    const event = { routeKey: 'GET /fleet', rawQueryString, headers: {} };
    const handler = httpHandler(
      routesOf(
        () => ({ ...fleet(), authentication: 'none' }) as Partial<SharedService> as SharedService,
      ),
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
