import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Invoked } from '../../../local/functions/pool.ts';
import { type Fixture, until } from './fixture-stack.ts';
import { test } from './shared-cloud.ts';

let fixture: Fixture;
/** Of modules that take more than ten seconds to load, which they do beside the other tests. */
let loading: Promise<[Invoked, Invoked]>;

test.beforeAll(({ shared }) => {
  fixture = shared;
  loading = Promise.all([invoke('slow'), invoke('endless')]);
});

const invoke = (name: string, event: object = {}): Promise<Invoked> =>
  fixture.cloud.invoke(`test-summaries-${name}`, event);

const answer = async (name: string, event: object = {}) => {
  const invoked = await invoke(name, event);
  if (invoked.kind !== 'answer') throw new Error(JSON.stringify(invoked));
  return JSON.parse(invoked.payload);
};

const logOf = (name: string) =>
  readFileSync(join(fixture.stateDir, 'logs', `test-summaries-${name}.log`), 'utf8');

test('a function is kept warm, and sees its own environment and nothing of the shell', async () => {
  process.env.OF_THE_SHELL = 'secret';
  const first = await answer('odd');
  const second = await answer('odd');
  expect([first.count, second.count]).toEqual([1, 2]);
  expect(second.pid).toBe(first.pid);
  expect(first.env).toMatchObject({
    OWN: 'x',
    NODE_OPTIONS: '--enable-source-maps',
    AWS_REGION: 'us-east-1',
    AWS_LAMBDA_FUNCTION_NAME: 'test-summaries-odd',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
    AWS_ENDPOINT_URL_S3: fixture.cloud.endpoints.s3,
    AWS_SESSION_TOKEN: expect.any(String),
    TZ: ':UTC',
  });
  expect(first.env).not.toHaveProperty('OF_THE_SHELL');
  expect(first.env).not.toHaveProperty('HOME');
  expect(first.env).not.toHaveProperty('NODE_COMPILE_CACHE');
  expect(first.context).toMatchObject({
    functionName: 'test-summaries-odd',
    memoryLimitInMB: '256',
    invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:test-summaries-odd',
    awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  expect(first.context.remaining).toBeGreaterThan(500);
  expect(first.context.remaining).toBeLessThanOrEqual(1000);
});

test('where no function is told of a model, whoever calls one is told why there is none', async () => {
  const { env } = await answer('odd');
  expect(env.AWS_ENDPOINT_URL_BEDROCK_RUNTIME).toBe(fixture.cloud.endpoints.provider);
  const response = await fetch(`${env.OPENAI_BASE_URL}/chat/completions`, { method: 'POST' });
  expect(response.status).toBe(404);
  expect(await response.text()).toContain('No function here is told of a model');
});

test('what it writes and what became of it is in its log', async () => {
  await answer('odd', { log: 'hello' });
  const log = await until(() => (logOf('odd').includes('said hello') ? logOf('odd') : undefined));
  expect(log).toMatch(/START RequestId: [0-9a-f-]{36} Version: \$LATEST\n/);
  expect(log).toMatch(/REPORT RequestId: .*\tMemory Size: 256 MB\tMax Memory Used: \d+ MB/);
});

test('an error comes back by its type, and the same process serves on', async () => {
  const { pid } = await answer('odd');
  expect(await invoke('odd', { throws: true })).toMatchObject({
    kind: 'error',
    error: { errorType: 'TypeError', errorMessage: 'not that way' },
  });
  expect((await answer('odd')).pid).toBe(pid);
});

test.each([
  ['sleeps', { sleepMs: 60_000 }],
  ['spins', { spin: true }],
])('one that %s past its timeout is killed, and the next is served', async (_, event) => {
  const started = Date.now();
  expect(await invoke('odd', event)).toMatchObject({
    error: { errorType: 'Sandbox.Timedout', errorMessage: 'Task timed out after 1.00 seconds' },
  });
  expect(Date.now() - started).toBeLessThan(4000);
  expect((await answer('odd')).count).toBe(1);
});

test.each([
  ['exits', { exit: 7 }, 'Runtime exited with error: exit status 7'],
  ['throws where nobody catches', { later: true }, 'Runtime exited with error: exit status 1'],
])('one that %s fails its own invocation only', async (_, event, errorMessage) => {
  const beside = answer('odd', { sleepMs: 300 });
  expect(await invoke('odd', event)).toMatchObject({ error: { errorMessage } });
  expect((await beside).count).toBeGreaterThan(0);
});

test('one that is killed from outside fails with its signal', async () => {
  const running = invoke('odd', { sleepMs: 900 });
  await until(() => (fixture.cloud.killFunction('test-summaries-odd') > 0 ? true : undefined));
  expect(await running).toMatchObject({
    error: { errorMessage: 'Runtime exited with error: signal: killed' },
  });
});

test.runIf(process.platform === 'linux')('more memory than configured ends it', async () => {
  expect(await invoke('small', { fill: true })).toMatchObject({
    error: { errorType: 'Runtime.OutOfMemory' },
  });
});

test('beyond its reserved concurrency it is throttled, and nothing is run', async () => {
  const results = await Promise.all([1, 2, 3].map(() => invoke('two', { sleepMs: 300 })));
  expect(results.map(({ kind }) => kind).sort()).toEqual(['answer', 'answer', 'throttled']);
  expect(fixture.cloud.counts('test-summaries-two')).toMatchObject({
    invocations: 2,
    throttles: 1,
  });
});

test('one that cannot be loaded says why', async () => {
  expect(await invoke('broken')).toMatchObject({ error: { errorMessage: 'no start' } });
  const nameless = await invoke('nameless');
  expect(JSON.stringify(nameless)).toContain('exports no function handler');
});

test('a module may take ten seconds to load, and then as long as its function', async () => {
  const [slow, endless] = await loading;
  expect(slow).toEqual({ kind: 'answer', payload: '"up"' });
  const took = /Init Duration: (\d+)/.exec(logOf('slow'))?.[1];
  expect(Number(took)).toBeGreaterThan(10_000);
  expect(endless).toMatchObject({
    error: { errorType: 'Sandbox.Timedout', errorMessage: 'Init timed out after 11 seconds' },
  });
});
