import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { routesOf } from '../../functions/import-api/routes.ts';
import type { SharedService } from '../../functions/import-api/service.ts';
import type { Desk } from '../../functions/import-intake/desk.ts';
import { writeExport } from '../../functions/import-intake/write-export.ts';
import {
  beginReading,
  cancelImport,
  endSending,
  haltImport,
  noteStalled,
} from '../../shared/imports/change-state.ts';
import { claimChunk, renewClaim } from '../../shared/imports/claim-chunk.ts';
import { createImport } from '../../shared/imports/create-import.ts';
import { createImportId } from '../../shared/imports/import-id.ts';
import {
  IMPORT_STATES,
  type ImportItem,
  type ImportState,
  NO_TALLIES,
} from '../../shared/imports/import-item.ts';
import { type ImportsTable, readImport } from '../../shared/imports/imports-table.ts';
import { httpHandler } from '../../shared/runtime/http-stack.ts';
import { createUrlSigner } from '../../shared/signing/sign-url.ts';
import { createUploadFormSigner } from '../../shared/signing/upload-form.ts';
import { AMPLE } from '../callers.ts';
import { type Engines, IMPORTS, type Process, startEngines } from './engines.ts';
import { fleetOf } from './fleet-service.ts';
import {
  deskOf,
  type Grounds,
  PRICES,
  prepareGrounds,
  readFile,
  settle,
  tableOf,
  takeJobs,
} from './import-desk.ts';

let engines: Engines;
let grounds: Grounds;
let usual: Process;
let desk: Desk;
let table: ImportsTable;
const clock = { now: Date.now() };

beforeAll(async () => {
  engines = await startEngines();
  grounds = await prepareGrounds(engines);
  usual = engines.newProcess();
  desk = deskOf(usual, grounds, clock);
  table = tableOf(usual, grounds);
});
afterAll(() => engines.stop());
beforeEach(async () => {
  clock.now += 1000;
  await takeJobs(engines, grounds.jobsUrl);
});

function serviceOf(process: Process): SharedService {
  const place = { region: 'us-east-1', bucket: IMPORTS, endpoint: engines.s3Endpoint };
  return {
    authentication: 'none',
    bounds: AMPLE,
    table: tableOf(process, grounds),
    bucket: { client: process.s3, name: IMPORTS },
    jobs: { client: process.sqs, url: grounds.jobsUrl },
    fleet: fleetOf(process, { interactive: grounds.chunksUrl, bulk: grounds.chunksUrl }),
    limits: { ...desk.limits, chunkRows: 2, sourceDays: 30, importDays: 90 },
    model: { kind: 'openai', model: 'small', prices: PRICES },
    prompt: { instructions: 'Summarise.', maxInputCharacters: 4000, maxOutputTokens: 100 },
    signing: {
      upload: createUploadFormSigner(place, 3600),
      download: createUrlSigner(place, 450),
      credentials: async () => ({ accessKeyId: 'test', secretAccessKey: 'test' }),
    },
    now: () => clock.now,
  };
}

interface Asked {
  id?: string;
  query?: string;
  body?: unknown;
  etag?: string;
  process?: Process;
  /** Claims of a token; without any, the API lets in everyone. */
  by?: Record<string, string>;
  /** New imports that one caller may make in a minute. */
  most?: number;
}

const tools = {
  logger: new Logger({ logLevel: 'SILENT' }),
  metrics: new Metrics({ namespace: 'test', serviceName: 'test' }),
};

/** A request as API Gateway hands it on, and what is answered. */
async function ask(routeKey: string, asked: Asked = {}) {
  const { id, query = '', body, etag, process, by, most } = asked;
  const service: SharedService = {
    ...serviceOf(process ?? usual),
    ...(by === undefined ? {} : { authentication: 'jwt' }),
    ...(most === undefined ? {} : { bounds: { ...AMPLE, imports: most } }),
  };
  const event = {
    ...(by === undefined ? {} : { requestContext: { authorizer: { jwt: { claims: by } } } }),
    routeKey,
    rawQueryString: query,
    headers: etag === undefined ? {} : { 'if-none-match': etag },
    isBase64Encoded: false,
    ...(id === undefined ? {} : { pathParameters: { id } }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  const answer = await httpHandler(
    routesOf(() => service),
    tools,
  )(event as unknown as APIGatewayProxyEventV2, { awsRequestId: 'id' } as Context);
  return {
    status: answer.statusCode,
    headers: answer.headers ?? {},
    body: answer.body === undefined ? undefined : JSON.parse(answer.body),
  };
}

const show = (id: string, more: Asked = {}) => ask('GET /imports/{id}', { id, ...more });
const press = (verb: string, id: string, body?: unknown, more: Asked = {}) =>
  ask(`POST /imports/{id}/${verb}`, { id, body, ...more });
const download = (id: string, more: Asked = {}) => ask('GET /imports/{id}/export', { id, ...more });
const jobs = () => takeJobs(engines, grounds.jobsUrl);

const csvOf = (rows: number) =>
  `sku,title\n${Array.from({ length: rows }, (_, n) => `s${n + 1},Title ${n + 1}\n`).join('')}`;

const created: string[] = [];

async function create(given: object = {}): Promise<string> {
  clock.now += 1;
  const answer = await ask('POST /imports', {
    body: { name: 'spring.csv', mode: 'interactive', ...given },
  });
  created.push(answer.body.importId);
  return answer.body.importId;
}

/** Created and read, its chunks sent. */
async function createRead(rows: number, given: object = {}): Promise<string> {
  const id = await create(given);
  await readFile(desk, id, csvOf(rows));
  return id;
}

/** Six rows in three chunks, of which row 4 fails. */
async function createOver(): Promise<string> {
  const id = await createRead(6);
  for (const chunk of [1, 2, 3]) await settle(desk, id, chunk, [4]);
  return id;
}

async function itemOf(id: string): Promise<ImportItem> {
  const item = await readImport(table, id);
  if (item === undefined) throw new Error(`there is no ${id}`);
  return item;
}

/** An item as it would be in a state, without all that has led there. */
async function createIn(state: ImportState): Promise<string> {
  clock.now += 1;
  const importId = createImportId(clock.now);
  await createImport(table, {
    importId,
    name: 'a.csv',
    mode: 'bulk',
    state,
    hold: false,
    round: 0,
    instructions: 'Summarise.',
    columns: [],
    reads: 0,
    pages: {},
    createdAt: clock.now,
    uploadBy: clock.now,
    updatedAt: clock.now,
    ttl: 4_000_000_000,
  });
  created.push(importId);
  return importId;
}

describe('POST /imports', () => {
  test('answers a form that uploads this one file, and waits for it', async () => {
    const process = engines.newProcess();
    const body = { name: 'Frühling.csv', mode: 'bulk', columns: ['title'], hold: true };
    const answer = await ask('POST /imports', { body, process });
    expect(answer.status).toBe(201);
    expect(process.calls).toEqual(['UpdateItem', 'PutItem']);
    const { importId, upload, expiresAt } = answer.body;
    expect(upload.fields).toMatchObject({
      key: `sources/${importId}.csv`,
      'Content-Type': 'text/csv',
    });
    expect(Date.parse(expiresAt)).toBe(Math.floor(clock.now / 1000) * 1000 + 3_600_000);
    const policy = JSON.parse(Buffer.from(upload.fields.Policy, 'base64').toString());
    expect(policy.conditions).toContainEqual(['content-length-range', 0, 10_000]);

    const form = new FormData();
    for (const [name, value] of Object.entries<string>(upload.fields)) form.append(name, value);
    form.append('file', new Blob([csvOf(3)]));
    expect((await fetch(upload.url, { method: 'POST', body: form })).ok).toBe(true);
    const object = { Bucket: IMPORTS, Key: `sources/${importId}.csv` };
    const stored = await engines.s3.send(new GetObjectCommand(object));
    expect(await stored.Body?.transformToString()).toBe(csvOf(3));

    expect(await itemOf(importId)).toMatchObject({
      ...body,
      state: 'awaiting-upload',
      instructions: 'Summarise.',
      uploadBy: Date.parse(expiresAt),
      ttl: Math.ceil(clock.now / 1000) + 90 * 86_400,
    });
  });

  test('refuses a deadline that is over, and takes one to come', async () => {
    const at = (ms: number) => new Date(clock.now + ms).toISOString();
    const body = (deadline: string) => ({ name: 'a', mode: 'bulk', deadline });
    const late = await ask('POST /imports', { body: body(at(0)) });
    expect([late.status, late.body.error.message]).toEqual([
      400,
      `body.deadline: expected a time to come, got ${at(0)}`,
    ]);
    const deadline = at(60_000);
    const id = await create({ deadline });
    expect((await show(id)).body.settings.deadline).toBe(deadline);
  });

  test('refuses what it does not know', async () => {
    const answer = await ask('POST /imports', { body: { name: 'a', mode: 'bulk', model: 'x' } });
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toBe(
      'body: expected only "name", "mode", "instructions", "columns", "idColumn", "encoding", "delimiter", "maxCostUsd", "deadline", "hold", got "model"',
    );
  });
});

describe('GET /imports/{id}', () => {
  test('shows all there is to know, by the item, a page and the report', async () => {
    const id = await createRead(6, { idColumn: 'sku', maxCostUsd: 1 });
    const { startedAt = 0 } = await itemOf(id);
    await settle(desk, id, 1, [2]);
    clock.now += 10_000;
    const process = engines.newProcess();
    const { status, body } = await show(id, { process });
    expect(status).toBe(200);
    expect(process.calls).toEqual(['GetItem', 'Query', 'GetItem']);
    expect(body).toEqual({
      importId: id,
      name: 'spring.csv',
      mode: 'interactive',
      state: 'running',
      rows: { total: 6, done: 1, failed: 1 },
      chunks: { total: 3, done: 0, failed: 1 },
      usage: { inputTokens: 200, outputTokens: 20, costUsd: 0.0004 },
      waits: { gateMs: 5, allowanceMs: 0, yieldMs: 0, refusedMs: 0 },
      // Nobody is at work: behind what somebody was.
      front: 2,
      createdAt: new Date((await itemOf(id)).createdAt).toISOString(),
      startedAt: new Date(startedAt).toISOString(),
      etaSeconds: 20,
      settings: {
        instructions: 'Summarise.',
        columns: [],
        idColumn: 'sku',
        maxCostUsd: 1,
        model: 'small',
      },
      report: {
        encoding: 'utf-8',
        delimiter: ',',
        header: ['sku', 'title'],
        warnings: [],
        warningsTotal: 0,
        rows: 6,
        blankLines: 0,
        columns: [
          expect.objectContaining({ name: 'sku', filled: 6 }),
          expect.objectContaining({ name: 'title', samples: ['Title 1', 'Title 2', 'Title 3'] }),
        ],
        preview: [1, 2, 3, 4, 5].map((n) => ({ line: n + 1, cells: [`s${n}`, `Title ${n}`] })),
      },
      estimate: {
        calls: 6,
        inputTokens: expect.any(Number),
        outputTokens: 600,
        costUsd: expect.any(Number),
      },
    });
  });

  test('of a file that was refused shows how far it was understood, and no costs', async () => {
    const id = await create();
    await expect(readFile(desk, id, 'sku;title\ns1;Mug\ns2;"Open\n')).rejects.toThrow('refused');
    const { body } = await show(id);
    expect(body).toMatchObject({
      state: 'failed',
      failure: { code: 'csv-quote', problems: [{ line: 3 }] },
      report: { delimiter: ';', header: ['sku', 'title'], rows: 1, preview: [{ line: 2 }] },
    });
    expect(body).not.toHaveProperty('estimate');
    // One that never was a table has none.
    const other = await create();
    await expect(readFile(desk, other, 'PK\u0003\u0004')).rejects.toThrow('refused');
    expect((await show(other)).body).not.toHaveProperty('report');
  });

  test('costs whoever has it already no report and no body', async () => {
    const id = await createRead(6);
    const first = await show(id);
    expect(first.headers).toMatchObject({ 'cache-control': 'private, no-cache' });
    const etag = String(first.headers.etag);
    const process = engines.newProcess();
    const second = await show(id, { etag, process });
    expect(second).toEqual({
      status: 304,
      headers: { etag, 'cache-control': 'private, no-cache' },
      body: undefined,
    });
    // Nobody has begun: the one page that is open.
    expect(process.calls).toEqual(['GetItem', 'Query']);
    await settle(desk, id, 1);
    expect((await show(id, { etag })).status).toBe(200);
  });

  test('costs two reads once it is over, and one before it has been read', async () => {
    const id = await createOver();
    const over = engines.newProcess();
    const { body } = await show(id, { process: over });
    expect(over.calls).toEqual(['GetItem', 'GetItem']);
    expect(body).toMatchObject({
      state: 'completed-with-failures',
      rows: { total: 6, done: 5, failed: 1 },
      chunks: { total: 3, done: 2, failed: 1 },
      completedAt: new Date(clock.now).toISOString(),
    });
    expect(body).not.toHaveProperty('etaSeconds');
    const waiting = engines.newProcess();
    const fresh = await show(await create(), { process: waiting });
    expect(waiting.calls).toEqual(['GetItem']);
    expect(fresh.body).not.toHaveProperty('report');
    expect(fresh.body).toMatchObject({ state: 'awaiting-upload', rows: { total: 0 } });
  });

  test('says why it was paused, and not what had stalled before', async () => {
    const id = await createRead(2);
    await noteStalled(table, id, { chunk: 1, reason: 'It was left.', resent: 2, at: clock.now });
    const failure = { code: 'key-refused', message: 'The key is refused.' };
    const { startedAt } = (await readImport(table, id)) ?? expect.fail();
    await haltImport(
      table,
      { importId: id, ...(startedAt === undefined ? {} : { startedAt }) },
      { now: clock.now, failure },
    );
    clock.now += 60_000;
    const { body } = await show(id);
    expect(body).toMatchObject({ state: 'paused', failure });
    expect(body).not.toHaveProperty('stalled');
  });

  test.each([
    ['GET /imports/{id}', 'nonsense'],
    ['GET /imports/{id}/rows', ''],
    ...['pause', 'resume', 'cancel', 'retry', 'estimate'].map((verb) => [
      `POST /imports/{id}/${verb}`,
      undefined,
    ]),
    ['GET /imports/{id}/export', undefined],
  ])('%s of what there is not is 404', async (route, id) => {
    const unknown = id ?? createImportId(clock.now);
    const answer = await ask(route ?? '', { id: unknown });
    expect(answer.status).toBe(404);
    expect(answer.body.error).toEqual({
      code: 'not-found',
      message: `there is no import ${JSON.stringify(unknown)}`,
    });
  });
});

test('GET /imports lists from the newest, with true progress and nothing heavy', async () => {
  const running = await createRead(6);
  await settle(desk, running, 2);
  await createOver();
  await create();
  const process = engines.newProcess();
  const first = await ask('GET /imports', { query: 'limit=3', process });
  // The index, and the page of the one that runs.
  expect(process.calls).toEqual(['Query', 'Query']);
  expect(first.body.imports.map(({ state }: ImportItem) => state)).toEqual([
    'awaiting-upload',
    'completed-with-failures',
    'running',
  ]);
  expect(first.body.imports[2]).toMatchObject({ rows: { total: 6, done: 2, failed: 0 } });
  for (const name of ['report', 'estimate', 'settings']) {
    expect(first.body.imports[2]).not.toHaveProperty(name);
  }
  const seen: string[] = [];
  let cursor = '';
  do {
    const { body } = await ask('GET /imports', {
      query: `limit=2&cursor=${cursor}`.replace(/&cursor=$/, ''),
    });
    seen.push(...body.imports.map(({ importId }: ImportItem) => importId));
    cursor = body.cursor ?? '';
  } while (cursor !== '');
  expect(seen).toEqual([...seen].sort().reverse());
  expect(new Set(seen)).toEqual(new Set([...created, ...seen]));
  expect((await ask('GET /imports', { query: 'cursor=e30' })).body.error.message).toBe(
    'query.cursor: expected the cursor of an earlier page of this list, or none to begin anew, got "e30"',
  );
});

test('GET /imports/{id}/rows pages through them in order, or those of a state', async () => {
  const id = await createRead(6);
  await settle(desk, id, 3, [6]);
  await settle(desk, id, 1);
  const rows = async (query: string) => (await ask('GET /imports/{id}/rows', { id, query })).body;
  const process = engines.newProcess();
  await ask('GET /imports/{id}/rows', { id, process });
  // The item, the page's chunks, and the two chunks that somebody has begun.
  expect(process.calls).toEqual(['GetItem', 'Query', 'Query', 'Query']);
  expect(await rows('limit=3')).toEqual({
    rows: [
      { row: 1, id: 'id 1', state: 'done', summary: 'summary 1' },
      { row: 2, id: 'id 2', state: 'done', summary: 'summary 2' },
      { row: 5, id: 'id 5', state: 'done', summary: 'summary 5' },
    ],
    cursor: '5',
  });
  const last = { row: 6, id: 'id 6', state: 'failed', reason: 'refused: no' };
  expect(await rows('after=5')).toEqual({ rows: [last] });
  expect(await rows('state=failed')).toEqual({ rows: [last] });
  expect(await rows('after=6')).toEqual({ rows: [] });
});

describe('a verb', () => {
  const GONE = 'it stays so, and a new import begins anew';
  const NO_ROW = 'no row of it has failed';
  const REFUSED: Record<string, Partial<Record<ImportState, string>>> = {
    pause: {
      completed: 'nothing is left to pause',
      'completed-with-failures': 'nothing is left to pause',
      failed: 'nothing is left to pause',
      cancelled: 'nothing is left to pause',
    },
    resume: {
      completed: 'nothing is left to resume',
      'completed-with-failures': 'retry takes up the rows that failed',
      failed: GONE,
      cancelled: GONE,
    },
    cancel: {
      completed: 'nothing is left to cancel',
      'completed-with-failures': 'nothing is left to cancel',
      failed: 'nothing is left to cancel',
    },
    retry: {
      'awaiting-upload': NO_ROW,
      reading: NO_ROW,
      running: NO_ROW,
      paused: NO_ROW,
      completed: NO_ROW,
      'completed-with-failures': NO_ROW,
      failed: GONE,
      cancelled: GONE,
    },
  };

  test.each(Object.entries(REFUSED))('%s says where it is not possible', async (verb, refused) => {
    for (const state of IMPORT_STATES) {
      const id = await createIn(state);
      const answer = await press(verb, id);
      const why = refused[state];
      if (why === undefined) {
        expect([answer.status, answer.body.importId]).toEqual([200, id]);
      } else {
        expect([answer.status, answer.body.error]).toEqual([
          409,
          { code: 'conflict', message: `${verb}: the import is ${state}, ${why}` },
        ]);
      }
    }
  });

  test('that is pressed twice is 200 twice', async () => {
    const id = await createRead(6);
    for (const [verb, state] of [
      ['pause', 'paused'],
      ['resume', 'running'],
      ['cancel', 'cancelled'],
    ] as const) {
      for (const _ of [1, 2]) {
        const answer = await press(verb, id);
        expect([answer.status, answer.body.state]).toEqual([200, state]);
      }
    }
  });

  test('is done before the import runs, too', async () => {
    const id = await create();
    expect((await show(id)).body.hold).toBe(false);
    expect((await press('pause', id)).body).toMatchObject({ state: 'awaiting-upload', hold: true });
    await readFile(desk, id, csvOf(4));
    expect((await show(id)).body.state).toBe('paused');
    const other = await create({ hold: true });
    expect((await press('resume', other, { columns: ['title'] })).body).toMatchObject({
      state: 'awaiting-upload',
      hold: false,
      settings: { columns: ['title'] },
    });
    await readFile(desk, other, csvOf(4));
    expect((await show(other)).body.state).toBe('running');
    expect(await jobs()).toEqual([]);
  });

  test('that is given what it does not take is 400', async () => {
    const id = await create();
    expect((await press('pause', id, { hard: true })).status).toBe(400);
  });
});

describe('a standstill', () => {
  const claim = async (id: string, chunk: number) => {
    const name = { importId: id, chunk, round: 0 };
    const { now } = clock;
    await claimChunk(table, name, { worker: `w${chunk}`, until: now + 35_000, now });
    return (wroteAt?: number) =>
      renewClaim(table, name, {
        worker: `w${chunk}`,
        until: clock.now + 35_000,
        now: clock.now,
        tallies: { ...NO_TALLIES, done: 1 },
        ...(wroteAt === undefined ? {} : { wroteAt }),
      });
  };
  const shown = async (id: string) => {
    const { etaSeconds, still, stalled } = (await show(id)).body;
    return { etaSeconds, still, stalled };
  };

  test('has no end that a pace could tell, and says of how many workers nothing is heard', async () => {
    const id = await createRead(6);
    const renew = await claim(id, 1);
    clock.now += 2000;
    const wroteAt = clock.now - 500;
    await renew(wroteAt);
    const renewedAt = clock.now;
    clock.now = wroteAt + 10_000;
    expect(await shown(id)).toMatchObject({ etaSeconds: 58, still: undefined });
    clock.now = renewedAt + 10_001;
    expect(await shown(id)).toEqual({
      etaSeconds: undefined,
      stalled: undefined,
      still: {
        since: new Date(wroteAt).toISOString(),
        unheard: { chunks: 1, againBy: new Date(renewedAt + 50_000).toISOString() },
      },
    });
    // It was only slow.
    await renew(wroteAt);
    expect(await shown(id)).toMatchObject({ still: { since: new Date(wroteAt).toISOString() } });
    expect((await shown(id)).still).not.toHaveProperty('unheard');
    await renew(clock.now);
    expect(await shown(id)).toMatchObject({ etaSeconds: expect.any(Number), still: undefined });
  });

  test('has no end before its rows make a pace, of which the start of functions is no part', async () => {
    const id = await createRead(200);
    const etaOf = async () => (await shown(id)).etaSeconds;
    clock.now += 13_000;
    await settle(desk, id, 1);
    clock.now += 2999;
    expect(await etaOf()).toBeUndefined();
    for (let chunk = 2; chunk <= 9; chunk++) await settle(desk, id, chunk);
    clock.now += 1;
    // 18 rows: too few for three seconds, and one in fifty after ten.
    expect(await etaOf()).toBeUndefined();
    await settle(desk, id, 10);
    expect(await etaOf()).toBe(27);
  });

  test('has no end by its first rows of many', async () => {
    const id = await createRead(200);
    await settle(desk, id, 1);
    clock.now += 9999;
    await settle(desk, id, 2);
    expect((await shown(id)).etaSeconds).toBeUndefined();
    clock.now += 1;
    expect((await shown(id)).etaSeconds).toBe(490);
  });

  test('is none of an import whose rows always come one a minute', async () => {
    const id = await createRead(6);
    clock.now += 60_000;
    const renew = await claim(id, 1);
    await renew(clock.now);
    clock.now += 100_000;
    // Its worker lives.
    await renew();
    expect((await shown(id)).still).toBeUndefined();
    clock.now += 20_001;
    await renew();
    expect((await shown(id)).still).toBeDefined();
  });

  test('before the first row is one once functions have had time to start', async () => {
    const id = await createRead(6);
    clock.now += 15_000;
    expect((await shown(id)).still).toBeUndefined();
    clock.now += 1;
    expect((await shown(id)).still).toEqual({
      since: new Date((await itemOf(id)).startedAt ?? 0).toISOString(),
    });
    await press('pause', id);
    expect((await shown(id)).still).toBeUndefined();
  });

  test('of a worker that ended early is said, though a first row that was long in coming makes a slow pace', async () => {
    const id = await createRead(6);
    clock.now += 30_000;
    const renew = await claim(id, 1);
    await renew(clock.now);
    clock.now += 10_000;
    expect((await shown(id)).still).toBeUndefined();
    clock.now += 1;
    expect((await shown(id)).still).toMatchObject({ unheard: { chunks: 1 } });
    // One that lives is waited for as long as its pace lets expect.
    await renew(clock.now - 10_001);
    expect((await shown(id)).still).toBeUndefined();
  });

  const foundLeft = async (id: string) =>
    await noteStalled(table, id, { chunk: 2, reason: 'It was left.', resent: 1, at: clock.now });

  test('that the reaper has found is stalled once that does not help, until something moves', async () => {
    const id = await createRead(6);
    const renew = await claim(id, 1);
    clock.now += 36_000;
    const sentAgainAt = new Date(clock.now).toISOString();
    await foundLeft(id);
    await renew();
    expect(await shown(id)).toMatchObject({ still: { sentAgainAt }, stalled: undefined });
    clock.now += 15_000;
    expect((await shown(id)).stalled).toBeUndefined();
    clock.now += 1;
    expect((await shown(id)).stalled).toMatchObject({ reason: 'It was left.' });
    await renew(clock.now);
    expect(await shown(id)).toMatchObject({ still: undefined, stalled: undefined });
  });

  test('that the reaper has found in one chunk is none while rows of others come', async () => {
    const id = await createRead(6);
    const renew = await claim(id, 1);
    clock.now += 36_000;
    await foundLeft(id);
    // What was written a moment before is told of by the next look.
    await renew(clock.now - 1000);
    for (let seconds = 0; seconds < 5; seconds++) {
      expect(await shown(id)).toMatchObject({ still: undefined, stalled: undefined });
      clock.now += 2000;
    }
  });

  test('of which no worker has begun anything is said at once', async () => {
    const id = await createRead(6);
    clock.now += 180_000;
    const reason = 'No worker has begun a chunk for 3 minutes.';
    await noteStalled(table, id, { reason, resent: 1, at: clock.now });
    expect((await shown(id)).stalled).toMatchObject({ reason });
  });
});

test('the front of an import is where the earliest of those at work is', async () => {
  const id = await createRead(10);
  const front = async () => (await show(id)).body.front;
  const claim = async (chunk: number, done: number) => {
    const { now } = clock;
    const name = { importId: id, chunk, round: 0 };
    await claimChunk(table, name, { worker: `w${chunk}`, until: now + 35_000, now });
    await renewClaim(table, name, {
      worker: `w${chunk}`,
      until: now + 35_000,
      now,
      tallies: { ...NO_TALLIES, done },
    });
  };
  expect(await front()).toBe(0);
  await claim(4, 0);
  await settle(desk, id, 3);
  // They have just begun, in any order.
  expect(await front()).toBe(0);
  await claim(2, 1);
  // The first chunk rests, and that is no reason to wait; row 3 is written, and 4 is under way.
  expect(await front()).toBe(3);
  await claim(1, 1);
  expect(await front()).toBe(1);
  // All have died, or somebody has paused it: it stays where it was.
  clock.now += 36_000;
  expect(await front()).toBe(1);
  for (const chunk of [1, 2, 3]) await settle(desk, id, chunk);
  expect(await front()).toBe(6);
  for (const chunk of [4, 5]) await settle(desk, id, chunk);
  expect((await show(id)).body).not.toHaveProperty('front');
});

describe('resume', () => {
  test('takes other settings, and sends what is left', async () => {
    const id = await createRead(6, { hold: true });
    const wishes = { instructions: 'In French.', columns: ['title'], maxCostUsd: 5 };
    const process = engines.newProcess();
    const { body } = await press('resume', id, wishes, { process });
    expect(process.calls.sort()).toEqual(
      // the item, what it has come to and its report; then what there is to show
      ['GetItem', 'Query', 'GetItem', 'UpdateItem', 'SendMessage', 'Query', 'GetItem'].sort(),
    );
    expect(body).toMatchObject({ state: 'running', settings: wishes });
    expect(await jobs()).toEqual([{ kind: 'send', importId: id }]);
    expect((await itemOf(id)).sendingSince).toBe(clock.now);
  });

  test('counts the time that is left from what it had come to', async () => {
    const id = await createRead(6);
    await settle(desk, id, 1);
    await press('pause', id);
    clock.now += 3_600_000;
    await press('resume', id);
    expect((await itemOf(id)).settledAtStart).toBe(2);
    expect((await show(id)).body).not.toHaveProperty('etaSeconds');
    await settle(desk, id, 2);
    clock.now += 10_000;
    expect((await show(id)).body.etaSeconds).toBe(10);
  });

  test('knows the columns that there are', async () => {
    const id = await createRead(2, { hold: true });
    const { status, body } = await press('resume', id, { columns: ['title', 'colour'] });
    expect([status, body.error.message]).toEqual([
      400,
      'body.columns: expected some of "sku", "title", got "colour"',
    ]);
  });

  test('costs no more than it may', async () => {
    const id = await createRead(6, { hold: true, maxCostUsd: 0.001 });
    const refused = await press('resume', id);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      {
        code: 'over-budget',
        message: expect.stringMatching(
          /^resume: the summaries may cost up to 0\.00\d+ USD, and its bound is 0\.001 USD: raise the bound or choose fewer columns$/,
        ),
      },
    ]);
    expect((await itemOf(id)).state).toBe('paused');
    expect((await press('resume', id, { maxCostUsd: 1 })).status).toBe(200);
    for (const chunk of [1, 2]) await settle(desk, id, chunk);
    await press('pause', id);
    const spent = await press('resume', id, { maxCostUsd: 0.0001 });
    expect(spent.status).toBe(409);
    // Its bound can be taken away, and whoever asks for that again gets the same.
    for (const _ of [1, 2]) {
      const { status, body } = await press('resume', id, { maxCostUsd: null });
      expect([status, body.state]).toEqual([200, 'running']);
      expect(body.settings).not.toHaveProperty('maxCostUsd');
    }
    expect((await press('resume', id, { maxCostUsd: 1 })).status).toBe(409);
  });

  test('changes nothing of what is under way', async () => {
    const id = await createRead(2);
    const { status, body } = await press('resume', id, { columns: ['title'] });
    expect([status, body.error.message]).toEqual([
      409,
      'resume: the import is running, its settings can be changed while it is paused',
    ]);
    const reading = await create();
    await beginReading(table, reading, { etag: 'e', reads: 1, now: clock.now });
    expect((await press('resume', reading, { columns: ['title'] })).body.error.message).toBe(
      'resume: the import is reading, its settings can be changed once its file has been read',
    );
    expect((await press('resume', reading)).status).toBe(200);
  });

  test('whose job is not taken says so, and is pressed again', async () => {
    const id = await createRead(2, { hold: true });
    const process = engines.newProcess();
    process.instead('SendMessage', () => {
      throw new Error('the queue is not well');
    });
    expect((await press('resume', id, undefined, { process })).status).toBe(500);
    // The reaper goes by this.
    expect(await itemOf(id)).toMatchObject({ state: 'running', sendingSince: clock.now });
    expect((await press('resume', id)).status).toBe(200);
    expect(await jobs()).toEqual([{ kind: 'send', importId: id }]);
  });

  test('that two press begins once', async () => {
    const id = await createRead(6, { hold: true });
    const answers = await Promise.all(
      [1, 2].map(() => press('resume', id, { instructions: 'In French.' })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await itemOf(id)).toMatchObject({ state: 'running', round: 0 });
    // A job too many finds nothing to send; one too few would be missed.
    expect((await jobs()).length).toBeGreaterThan(0);
  });

  test('holds its wishes against a file that is read meanwhile', async () => {
    const id = await create({ hold: true });
    const process = engines.newProcess();
    process.after('GetItem', () => readFile(desk, id, csvOf(2)));
    const { status } = await press('resume', id, { columns: ['colour'] }, { process });
    expect(status).toBe(400);
    expect((await itemOf(id)).state).toBe('paused');
  });
});

describe('pause', () => {
  test('takes hold of an import that begins to run between its two writes', async () => {
    const id = await create();
    const process = engines.newProcess();
    process.after('UpdateItem', () => readFile(desk, id, csvOf(2)));
    const { body } = await press('pause', id, undefined, { process });
    expect(body.state).toBe('paused');
  });
});

describe('cancel', () => {
  test('and completion have one order, whoever comes first', async () => {
    const late = await createRead(2);
    await settle(desk, late, 1);
    expect((await press('cancel', late)).body.error.message).toBe(
      'cancel: the import is completed, nothing is left to cancel',
    );
    const early = await createRead(2);
    await Promise.all([press('cancel', early), settle(desk, early, 1)]);
    const { state, active } = { active: undefined, ...(await itemOf(early)) };
    expect(['cancelled', 'completed']).toContain(state);
    expect(active).toBeUndefined();
    await settle(desk, early, 1);
    expect((await itemOf(early)).state).toBe(state);
  });
});

describe('retry', () => {
  test('begins a round for the rows that failed', async () => {
    const id = await createOver();
    const process = engines.newProcess();
    const { status, body } = await press('retry', id, undefined, { process });
    expect([status, body.state]).toEqual([200, 'running']);
    expect(body.rows).toEqual({ total: 6, done: 5, failed: 0 });
    expect(process.calls.slice(0, 3)).toEqual(['GetItem', 'UpdateItem', 'SendMessage']);
    expect(process.calls.slice(3).sort()).toEqual(['GetItem', 'Query']);
    expect(await jobs()).toEqual([{ kind: 'send', importId: id }]);
    clock.now += 2000;
    await settle(desk, id, 2);
    expect((await show(id)).body).toMatchObject({
      state: 'completed',
      rows: { total: 6, done: 6, failed: 0 },
    });
  });

  test('leaves a paused import paused', async () => {
    const id = await createRead(4);
    await settle(desk, id, 1, [1]);
    await press('pause', id);
    expect((await press('retry', id)).body).toMatchObject({
      state: 'paused',
      rows: { done: 1, failed: 0 },
    });
    expect(await jobs()).toEqual([]);
  });

  test('forgets no page that becomes full meanwhile', async () => {
    // 101 chunks: the last is a page of its own.
    const id = await createRead(202);
    await settle(desk, id, 1, [1]);
    const process = engines.newProcess();
    process.after('Query', () => settle(desk, id, 101));
    const { status, body } = await press('retry', id, undefined, { process });
    expect(status).toBe(200);
    expect(process.calls.filter((name) => name === 'UpdateItem')).toHaveLength(2);
    expect(body.rows).toEqual({ total: 202, done: 3, failed: 0 });
    expect(await itemOf(id)).toMatchObject({ round: 1, pages: { 2: { done: 2 } } });
  });

  test('that two press begins one round', async () => {
    const id = await createOver();
    const process = engines.newProcess();
    process.after('GetItem', async () => {
      await press('retry', id);
    });
    expect((await press('retry', id, undefined, { process })).status).toBe(200);
    expect((await itemOf(id)).round).toBe(1);
  });

  test('whose job is not taken is pressed again', async () => {
    const id = await createOver();
    const process = engines.newProcess();
    process.instead('SendMessage', () => {
      throw new Error('the queue is not well');
    });
    expect((await press('retry', id, undefined, { process })).status).toBe(500);
    expect((await press('retry', id)).status).toBe(200);
    expect(await jobs()).toEqual([{ kind: 'send', importId: id }]);
    expect((await itemOf(id)).round).toBe(1);
  });
});

describe('estimate', () => {
  test('answers what it would cost otherwise, and changes nothing', async () => {
    const id = await createRead(6, { hold: true });
    const process = engines.newProcess();
    const all = await press('estimate', id, undefined, { process });
    expect(process.calls).toEqual(['GetItem', 'GetItem']);
    expect(all.body).toEqual((await show(id)).body.estimate);
    const one = await press('estimate', id, { columns: ['title'] });
    expect(one.body.inputTokens).toBeLessThan(all.body.inputTokens);
    const long = await press('estimate', id, { instructions: 'word '.repeat(100) });
    expect(long.body.inputTokens).toBeGreaterThan(all.body.inputTokens);
    expect((await itemOf(id)).columns).toEqual([]);
    expect((await press('estimate', id, { columns: ['colour'] })).status).toBe(400);
  });

  test.each([
    ['awaiting-upload', 'what it costs is known once its file has been read'],
    ['reading', 'what it costs is known once its file has been read'],
    ['failed', 'its file was refused and costs nothing'],
    ['cancelled', 'its file was never read'],
  ] as const)('is not known where it is %s', async (state, why) => {
    const { status, body } = await press('estimate', await createIn(state));
    expect([status, body.error.message]).toEqual([409, `estimate: the import is ${state}, ${why}`]);
  });
});

describe('export', () => {
  async function write(): Promise<void> {
    for (const job of await jobs()) {
      if (job.kind !== 'export') throw new Error(`a job of kind ${job.kind}`);
      await writeExport(desk, job);
    }
  }

  const text = async ({ headers }: Awaited<ReturnType<typeof ask>>) =>
    await (await fetch(String(headers.location))).text();

  test('is prepared, then is where the redirect leads', async () => {
    const id = await createOver();
    const preparing = engines.newProcess();
    const first = await download(id, { process: preparing });
    expect(first).toMatchObject({
      status: 202,
      headers: { 'retry-after': '1', 'cache-control': 'no-store' },
      body: { state: 'preparing', retryAfterMs: 1000 },
    });
    expect(preparing.calls).toEqual(['GetItem', 'HeadObject', 'GetItem', 'PutItem', 'SendMessage']);
    const polling = engines.newProcess();
    expect((await download(id, { process: polling })).status).toBe(202);
    expect(polling.calls).toEqual(['GetItem', 'HeadObject', 'GetItem']);
    await write();

    const ready = engines.newProcess();
    const answer = await download(id, { process: ready });
    expect(answer).toMatchObject({ status: 302, headers: { 'cache-control': 'no-store' } });
    expect(ready.calls).toEqual(['GetItem', 'HeadObject']);
    const url = new URL(String(answer.headers.location));
    expect(url.pathname).toBe(`/${IMPORTS}/exports/${id}/0-5-1.csv`);
    expect(url.searchParams.get('X-Amz-Expires')).toBe('900');
    expect(await text(answer)).toContain('s4,Title 4,,failed,refused: no');
  });

  /** Uploads it, summarises all and answers the export. */
  async function summarise(file: string): Promise<string> {
    const id = await create();
    await readFile(desk, id, file);
    const { layout } = await itemOf(id);
    for (let chunk = 1; chunk <= Math.ceil((layout?.total ?? 0) / 2); chunk++) {
      await settle(desk, id, chunk);
    }
    await jobs();
    await download(id);
    await write();
    return await text(await download(id));
  }

  test('is imported and exported again, and once more: what was summarised before is a column', async () => {
    let file = csvOf(3);
    for (let round = 1; round <= 3; round++) file = await summarise(file);
    const [header, first] = file.replace('\uFEFF', '').split('\r\n');
    expect(header).toBe(
      ['', ' 2', ' 3'].reduce(
        (names, number) =>
          `${names},summary${number},summary state${number},summary reason${number}`,
        'sku,title',
      ),
    );
    expect(first).toBe(`s1,Title 1${',summary 1,done,'.repeat(3)}`);
  });

  test('has a long cell as it came, though the workers had only its beginning', async () => {
    const long = 'x'.repeat(3000);
    const file = await summarise(`sku,text\ns1,short\ns2,${long}\ns3,short\n`);
    expect(file.replace('\uFEFF', '').split('\r\n').slice(1)).toEqual([
      's1,short,summary 1,done,',
      `s2,${long},summary 2,done,`,
      's3,short,summary 3,done,',
      '',
    ]);
  });

  test('of the failed rows is another file', async () => {
    const id = await createOver();
    const query = 'only=failed';
    expect((await download(id, { query })).status).toBe(202);
    await write();
    const answer = await download(id, { query });
    expect(String(answer.headers.location)).toContain('/0-5-1-only-failed.csv?');
    expect((await text(answer)).trim().split(/\r?\n/)).toHaveLength(2);
    expect((await download(id)).status).toBe(202);
  });

  test('that fifty ask for is one job', async () => {
    const id = await createOver();
    const answers = await Promise.all(Array.from({ length: 50 }, () => download(id)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(await jobs()).toHaveLength(1);
  });

  test('that nobody has written in its time is asked for once more', async () => {
    const id = await createOver();
    await download(id);
    clock.now += 60_005;
    await download(id);
    expect(await jobs()).toHaveLength(1);
    clock.now += 2;
    await Promise.all([download(id), download(id)]);
    const [again, ...more] = await jobs();
    expect(again).toMatchObject({ kind: 'export', key: `exports/${id}/0-5-1.csv` });
    expect(more).toEqual([]);
  });

  test('of an import that runs is found by whoever polls through several minutes', async () => {
    // S3 has a clock of its own.
    clock.now = Math.floor(Date.now() / 60_000) * 60_000 - 1000;
    const id = await createRead(6);
    await settle(desk, id, 1);
    expect((await download(id)).status).toBe(202);
    clock.now += 30_000;
    expect((await download(id)).status).toBe(202);
    const waiting = await jobs();
    expect(waiting).toHaveLength(1);
    for (const job of waiting) if (job.kind === 'export') await writeExport(desk, job);
    const answer = await download(id);
    expect(answer.status).toBe(302);
    expect(await text(answer)).toContain('s3,Title 3,,pending,');
    // Later it is not of that moment any more.
    clock.now = Date.now() + 61_000;
    expect((await download(id)).status).toBe(202);
    expect(await jobs()).toHaveLength(1);
  });

  test.each([
    ['awaiting-upload', 'there are rows once its file has been read'],
    ['failed', 'its file was refused and has no rows'],
    ['cancelled', 'its file was never read'],
  ] as const)('is refused where it is %s', async (state, why) => {
    const { status, body } = await download(await createIn(state));
    expect([status, body.error.message]).toEqual([409, `export: the import is ${state}, ${why}`]);
  });
});

test('a job that was sent meanwhile, and a cancellation, leave nothing to send', async () => {
  const id = await createRead(2, { hold: true });
  await press('resume', id);
  await endSending(table, id, { since: clock.now, now: clock.now });
  expect(await itemOf(id)).not.toHaveProperty('sendingSince');
  await cancelImport(table, id, clock.now);
  expect((await press('resume', id)).status).toBe(409);
});

describe('whoever has signed in', () => {
  const OLIVE = { sub: 'olive' };
  const TARIQ = { sub: 'tariq' };
  const OSCAR = { sub: 'oscar', glimpse_operator: 'true' };
  const make = async (by: Record<string, string>, name: string): Promise<string> => {
    clock.now += 1;
    const { body } = await ask('POST /imports', { by, body: { name, mode: 'bulk' } });
    return body.importId;
  };
  const list = async (by: Record<string, string>, query = '') =>
    (await ask('GET /imports', { by, query })).body;
  const idsOf = ({ imports }: { imports: { importId: string }[] }) =>
    imports.map(({ importId }) => importId);

  test('has their own imports listed, by one Query of these alone, page by page', async () => {
    const by = { sub: 'lists' };
    const own = [await make(by, 'a'), await make(by, 'b'), await make(by, 'c')].reverse();
    await make(TARIQ, 'between');
    const process = engines.newProcess();
    const first = (await ask('GET /imports', { by, query: 'limit=2', process })).body;
    expect(process.calls).toEqual(['Query']);
    expect(idsOf(first)).toEqual(own.slice(0, 2));
    const second = await list(by, `limit=2&cursor=${first.cursor}`);
    expect(idsOf(second)).toEqual(own.slice(2));
    expect(await list({ sub: 'newcomer' })).toEqual({ imports: [] });
  });

  test('finds another’s nowhere, in the words for one that is not there', async () => {
    const id = await make(OLIVE, 'hers');
    const none = createImportId(clock.now - 5);
    const routes = Object.keys(routesOf(() => serviceOf(usual))).filter((key) =>
      key.includes('{id}'),
    );
    expect(routes).toHaveLength(8);
    for (const route of routes) {
      const process = engines.newProcess();
      const answer = await ask(route, { id, by: TARIQ, process });
      expect([route, answer.status, process.calls]).toEqual([route, 404, ['GetItem']]);
      const missing = await ask(route, { id: none, by: TARIQ });
      const said = (told: unknown) =>
        JSON.stringify(told).replaceAll(/"01[0-9a-z]+|\\"01[0-9a-z]+/g, 'ID');
      expect(said(answer)).toBe(said(missing));
    }
    expect((await show(id, { by: OLIVE })).status).toBe(200);
    expect((await itemOf(id)).state).toBe('awaiting-upload');
  });

  test('and looks after all of them sees and changes them, and lists them where that is asked for', async () => {
    const id = await make(OLIVE, 'stuck');
    expect(idsOf(await list(OSCAR))).not.toContain(id);
    // By which a page knows that it may ask for those of all.
    expect(await list(OSCAR)).toHaveProperty('operator', true);
    expect(await list(OLIVE)).not.toHaveProperty('operator');
    const everyones: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await list(OSCAR, `of=everyone&limit=50${cursor && `&cursor=${cursor}`}`);
      everyones.push(...idsOf(page));
      cursor = page.cursor;
    }
    expect(everyones).toContain(id);
    // Where a page of one list ends says nothing of the other.
    await make(OSCAR, 'his');
    await make(OSCAR, 'his too');
    for (const [of, other] of [
      ['', '&of=everyone'],
      ['&of=everyone', ''],
    ]) {
      const { cursor } = await list(OSCAR, `limit=1${of}`);
      const query = `limit=1${other}&cursor=${cursor}`;
      const { status, body } = await ask('GET /imports', { by: OSCAR, query });
      expect(status).toBe(400);
      expect(body.error.message).toMatch(/^query\.cursor: expected the cursor of an earlier page/);
    }
    expect((await ask('GET /imports', { by: OLIVE, query: 'of=everyone' })).status).toBe(403);
    expect((await press('cancel', id, undefined, { by: OSCAR })).status).toBe(200);
    // It is still whose it was.
    expect((await show(id, { by: OLIVE })).body.state).toBe('cancelled');
    expect((await show(id, { by: TARIQ })).status).toBe(404);
  });

  test('has none of those that were made before there were owners', async () => {
    const id = await create();
    expect((await show(id, { by: OLIVE })).status).toBe(404);
    expect(idsOf(await list(OLIVE))).not.toContain(id);
    expect((await show(id, { by: OSCAR })).status).toBe(200);
    // Where everyone is let in, all are everyone's.
    expect((await show(await make(OLIVE, 'hers'))).status).toBe(200);
  });

  test('is not known without a token that the authorizer has passed on', async () => {
    for (const route of Object.keys(routesOf(() => serviceOf(usual)))) {
      const process = engines.newProcess();
      const { status, body } = await ask(route, { id: createImportId(clock.now), by: {}, process });
      expect([route, status, body.error.code]).toEqual([route, 401, 'unauthenticated']);
      expect(process.calls).toEqual([]);
    }
  });

  test('may make so many imports a minute, and is told when there are more to be had', async () => {
    clock.now = Math.ceil(clock.now / 60_000) * 60_000 + 15_000;
    const by = { sub: 'hasty' };
    const body = { name: 'a', mode: 'bulk' };
    const ask3 = () => ask('POST /imports', { by, body, most: 2 });
    expect([(await ask3()).status, (await ask3()).status]).toEqual([201, 201]);
    const refused = await ask3();
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '45']);
    expect(refused.body.error).toEqual({
      code: 'too-many-requests',
      message: 'expected at most 2 new imports a minute, got more',
    });
    expect((await ask('POST /imports', { by: TARIQ, body, most: 2 })).status).toBe(201);
    clock.now += 45_000;
    expect((await ask3()).status).toBe(201);
  });
});

test('a script is told where an export is, instead of being sent there', async () => {
  const id = await createOver();
  const waiting = await download(id, { query: 'as=json' });
  expect(waiting).toMatchObject({ status: 202, body: { state: 'preparing', retryAfterMs: 1000 } });
  for (const job of await jobs()) if (job.kind === 'export') await writeExport(desk, job);
  const { status, body } = await download(id, { query: 'as=json' });
  expect([status, body.state]).toEqual([200, 'ready']);
  expect(await (await fetch(body.url)).text()).toContain('s1,Title 1,');
});
