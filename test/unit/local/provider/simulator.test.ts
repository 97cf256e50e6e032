import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { FaultRule } from '../../../../local/provider/settings.ts';
import { type Simulator, startSimulator } from '../../../../local/provider/simulator.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({ seed: 5 });
});
afterAll(() => simulator.stop());
beforeEach(() => {
  simulator.configure({ account: null, latency: { kind: 'fixed', ms: 0 }, faults: [] });
  simulator.clear();
});

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const CONVERSE = '/model/m/converse';
const BODIES = {
  [CHAT]: { model: 'm', messages: [{ role: 'user', content: 'An oak stool.' }], max_tokens: 50 },
  [MESSAGES]: {
    model: 'm',
    messages: [{ role: 'user', content: 'An oak stool.' }],
    max_tokens: 50,
  },
  [CONVERSE]: { messages: [{ role: 'user', content: [{ text: 'An oak stool.' }] }] },
};
const PATHS = [CHAT, MESSAGES, CONVERSE] as const;

function post(path: string, body: object | string, headers: Record<string, string> = {}) {
  return fetch(`${simulator.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const call = (row: string) => post(CHAT, BODIES[CHAT], { 'x-client-request-id': row });

async function answered(count: number) {
  await vi.waitFor(() => expect(simulator.ledger()).toHaveLength(count), { interval: 2 });
  return simulator.ledger();
}

test("OpenAI's headers show the account", async () => {
  simulator.configure({ account: { requestsPerMinute: 600, tokensPerMinute: 600 } });
  const { headers } = await call('a');
  // 600 of each: one request is missing, a tenth of a second. What was reserved of tokens is 4 + 50,
  // 5.4 seconds, of which some milliseconds may have passed.
  expect(headers.get('x-ratelimit-limit-requests')).toBe('600');
  expect(headers.get('x-ratelimit-remaining-requests')).toBe('599');
  expect(headers.get('x-ratelimit-reset-requests')).toMatch(/^(9\d|100)ms$/);
  expect(headers.get('x-ratelimit-limit-tokens')).toBe('600');
  expect(headers.get('x-ratelimit-remaining-tokens')).toBe('546');
  expect(headers.get('x-ratelimit-reset-tokens')).toMatch(/^5\.[34]\d*s$/);
});

test('a key can have an account of its own, which the others do not spend', async () => {
  simulator.configure({
    account: { requestsPerMinute: 6, tokensPerMinute: 60_000 },
    accounts: { 'sk-rich': { requestsPerMinute: 600, tokensPerMinute: 600_000 } },
  });
  const remainingOf = async (key: string) => {
    const { headers } = await post(CHAT, BODIES[CHAT], { authorization: `Bearer ${key}` });
    return headers.get('x-ratelimit-remaining-requests');
  };
  expect(await remainingOf('sk-rich')).toBe('599');
  expect(await remainingOf('sk-any')).toBe('5');
  expect(await remainingOf('sk-other')).toBe('4');
  simulator.configure({ accounts: {} });
  expect(await remainingOf('sk-rich')).toBe('3');
});

test("Anthropic's headers show the account, with times", async () => {
  simulator.configure({ account: { requestsPerMinute: 60, tokensPerMinute: 600 } });
  const { headers } = await post(MESSAGES, BODIES[MESSAGES]);
  expect(headers.get('anthropic-ratelimit-requests-limit')).toBe('60');
  expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe('59');
  const reset = headers.get('anthropic-ratelimit-requests-reset') ?? '';
  expect(reset).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(Math.abs(Date.parse(reset) - Date.now() - 1000)).toBeLessThan(1500);
  expect(headers.get('anthropic-ratelimit-output-tokens-remaining')).toBe('546');
});

test('an account that shows nothing, and none at all, send no such headers', async () => {
  simulator.configure({
    account: { requestsPerMinute: 60, tokensPerMinute: 60_000, headers: false },
  });
  const quiet = await call('a');
  simulator.configure({ account: null });
  const none = await call('b');
  for (const { headers } of [quiet, none]) {
    expect([...headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
  }
});

test('a limit refuses with the time until there is room, and the ledger tells it from a fault', async () => {
  simulator.configure({
    account: { requestsPerMinute: 6, tokensPerMinute: 60_000, burstSeconds: 10 },
    faults: [{ fault: 'rate-tokens', call: 3 }],
  });
  expect((await call('a')).status).toBe(200);
  const refused = await call('b');
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({
    error: { type: 'requests', code: 'rate_limit_exceeded' },
  });
  expect(refused.headers.get('retry-after')).toBe('10');
  expect(Number(refused.headers.get('retry-after-ms'))).toBeGreaterThan(9000);
  simulator.configure({ account: null });
  await call('c');
  const outcomes = (await answered(3)).map(({ outcome }) => outcome);
  expect(outcomes).toEqual(['done', 'limit-requests', 'rate-tokens']);
});

test('a spend cap of Anthropic differs from a rate by the absence of a time alone', async () => {
  const answers = [];
  for (const fault of ['quota', 'rate-requests'] as const) {
    simulator.configure({ faults: [{ fault }] });
    const { status, headers } = await post(MESSAGES, BODIES[MESSAGES]);
    answers.push([status, headers.get('retry-after')]);
  }
  expect(answers).toEqual([
    [429, null],
    [429, '1'],
  ]);
});

test('the same seed makes the same faults, whatever the order of the rows', async () => {
  const faults: FaultRule[] = [
    { fault: 'overloaded', probability: 0.3 },
    { fault: 'bad-request', probability: 0.3 },
  ];
  const rows = Array.from({ length: 16 }, (_, i) => `imp/${i}`);
  const run = async (target: Simulator, order: string[]) => {
    target.configure({ account: null, latency: { kind: 'fixed', ms: 0 }, faults });
    target.clear();
    const statuses = new Map<string, number[]>();
    for (const row of [...order, ...order]) {
      const headers = { 'x-client-request-id': row };
      const body = JSON.stringify(BODIES[CHAT]);
      const { status } = await fetch(`${target.url}${CHAT}`, { method: 'POST', headers, body });
      statuses.set(row, [...(statuses.get(row) ?? []), status]);
    }
    return Object.fromEntries(rows.map((row) => [row, statuses.get(row)]));
  };
  const first = await run(simulator, rows);
  expect(await run(simulator, rows.toReversed())).toEqual(first);
  const kinds = new Set(Object.values(first).flat());
  expect(kinds).toEqual(new Set([200, 529, 400]));
  const other = await startSimulator({ seed: 6 });
  expect(await run(other, rows)).not.toEqual(first);
  await other.stop();
});

describe('a body that is not what the API takes', () => {
  test.each(PATHS)('%s: is a 400 in its own words, and spends a request', async (path) => {
    simulator.configure({ account: { requestsPerMinute: 4, tokensPerMinute: 100_000 } });
    const wrong = [
      'not json',
      '[]',
      { messages: [] },
      { messages: [{ role: 'user', content: 7 }], model: 'm', max_tokens: 1 },
    ];
    for (const body of wrong) {
      const answer = await post(path, body);
      expect(answer.status).toBe(400);
      const told = JSON.stringify(await answer.json());
      expect(told).toMatch(/messages|body|max_tokens|model/i);
    }
    expect((await post(path, 'not json')).status).toBe(429);
    expect((await answered(5))[0]).toMatchObject({ status: 400, outcome: 'malformed' });
  });

  test.each([...PATHS, '/configure'])(
    '%s: too large is a 413, also without a length',
    async (path) => {
      const large = ' '.repeat(1024 * 1024 + 1);
      expect((await post(path, large)).status).toBe(413);
      const stream = new ReadableStream({
        start(controller) {
          for (let i = 0; i < 17; i++) controller.enqueue(new Uint8Array(64 * 1024).fill(32));
          controller.close();
        },
      });
      const init = { method: 'POST', body: stream, duplex: 'half' } as const;
      expect((await fetch(`${simulator.url}${path}`, init)).status).toBe(413);
    },
  );

  test('a bound of a megabyte is enough for one', async () => {
    const content = `An oak stool. ${'x'.repeat(1_000_000)}`;
    const messages = [{ role: 'user', content }];
    const answer = await post(CHAT, { model: 'm', messages, max_tokens: 50 });
    expect(answer.status).toBe(200);
  });

  test('streaming is refused, not ignored', async () => {
    const answer = await post(CHAT, { ...BODIES[CHAT], stream: true });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('does not stream');
  });

  test('what is no HTTP leaves the simulator standing', async () => {
    const socket = connectSocket(simulator.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('\x16\x03\x01 GET nonsense\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    expect((await call('a')).status).toBe(200);
  });

  test('a caller that leaves in the middle of its body is in the ledger', async () => {
    const socket = connectSocket(simulator.port, '127.0.0.1');
    const head = `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nx-client-request-id: imp/9\r\ncontent-length: 500\r\n\r\n{"mod`;
    socket.write(head);
    await vi.waitFor(() => expect(simulator.summary().inFlight).toBe(1), { interval: 2 });
    socket.destroy();
    expect(await answered(1)).toMatchObject([
      { row: 'imp/9', status: 'aborted', outcome: 'unread', inputTokens: 0 },
    ]);
  });
});

test('an unset bound of the output reserves the maximum, as Bedrock does', async () => {
  simulator.configure({ account: { requestsPerMinute: 600, tokensPerMinute: 4200 } });
  expect((await post(CONVERSE, BODIES[CONVERSE])).status).toBe(200);
  const bounded = { ...BODIES[CONVERSE], inferenceConfig: { maxTokens: 20 } };
  simulator.configure({
    account: { requestsPerMinute: 600, tokensPerMinute: 4200 },
    latency: { kind: 'fixed', ms: 5000 },
  });
  const leave = new AbortController();
  const init = { method: 'POST', body: JSON.stringify(BODIES[CONVERSE]), signal: leave.signal };
  const slow = fetch(`${simulator.url}${CONVERSE}`, init).catch(() => {});
  await vi.waitFor(() => expect(simulator.summary().inFlight).toBe(1), { interval: 2 });
  const refused = await post(CONVERSE, { ...bounded, inferenceConfig: { maxTokens: 200 } });
  expect(refused.headers.get('x-amzn-errortype')).toBe('ThrottlingException');
  leave.abort();
  await slow;
  await answered(3);
});

describe('over HTTP', () => {
  test('the ledger is a line a call', async () => {
    await call('a');
    await call('b');
    await answered(2);
    const text = await (await fetch(`${simulator.url}/ledger`)).text();
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(simulator.ledger());
    const [first] = simulator.ledger();
    expect(first?.start).toBeGreaterThan(Date.now() - 60_000);
    expect(first?.end).toBeGreaterThanOrEqual(first?.start ?? 0);
    const summary = await (await fetch(`${simulator.url}/ledger/summary`)).json();
    expect(summary).toEqual(simulator.summary());
    const emptied = await fetch(`${simulator.url}/ledger`, { method: 'DELETE' });
    expect([emptied.status, simulator.ledger()]).toEqual([204, []]);
  });

  test('it can be told what to do, and keeps what it is not told', async () => {
    const faults = [{ fault: 'server-error', row: 'a' }];
    expect((await post('/configure', { faults })).status).toBe(200);
    expect((await call('a')).status).toBe(500);
    expect(
      (await post('/configure', { account: { requestsPerMinute: 9, tokensPerMinute: 9999 } }))
        .status,
    ).toBe(200);
    const answer = await call('a');
    expect([answer.status, answer.headers.get('x-ratelimit-limit-requests')]).toEqual([500, '9']);
  });

  test.each([
    ['{', 'JSON'],
    [{ faults: [{ fault: 'earthquake' }] }, 'faults.0.fault'],
    [{ account: { requestsPerMinute: 0, tokensPerMinute: 5 } }, 'account.requestsPerMinute'],
    [{ latency: { kind: 'fixed' } }, 'latency.ms'],
    [{ seed: 4 }, 'seed'],
    [[], 'object'],
  ])('%j is refused with a sentence', async (body, names) => {
    const answer = await post('/configure', body);
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('invalid-request');
    expect(error.message).toContain(names);
  });

  test('what it does not have is named', async () => {
    for (const [method, path] of [
      ['GET', CHAT],
      ['POST', '/v1/embeddings'],
      ['POST', '/model/a/b/converse'],
    ] as const) {
      const answer = await fetch(`${simulator.url}${path}`, { method });
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain(`${method} ${path}`);
    }
  });
});

test('wrong options are named', async () => {
  await expect(startSimulator({ maxLedger: 0 })).rejects.toThrow('maxLedger');
  await expect(startSimulator({ port: simulator.port })).rejects.toThrow('in use');
});

test('when it stops, calls that hang end, and are told from those that were cut', async () => {
  const other = await startSimulator({
    account: null,
    latency: { kind: 'fixed', ms: 60_000 },
    faults: [{ fault: 'hang', row: 'a' }],
  });
  const body = JSON.stringify(BODIES[CHAT]);
  const calls = ['a', 'b'].map((row) =>
    fetch(`${other.url}${CHAT}`, { method: 'POST', headers: { 'x-client-request-id': row }, body }),
  );
  const settled = Promise.allSettled(calls);
  await vi.waitFor(() => expect(other.summary().inFlight).toBe(2), { interval: 2 });
  await other.stop();
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const ends = other.ledger().map(({ row, status }) => [row, status]);
  expect(Object.fromEntries(ends)).toEqual({ a: 'hang', b: 'reset' });
});
