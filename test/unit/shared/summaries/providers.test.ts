import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { FaultName } from '../../../../local/provider/settings.ts';
import { type Simulator, startSimulator } from '../../../../local/provider/simulator.ts';
import {
  createProvider,
  providerConfigSchema,
} from '../../../../shared/summaries/create-provider.ts';
import type { Finish, Provider } from '../../../../shared/summaries/provider.ts';
import {
  AbortedError,
  RefusedError,
  TimedOutError,
  UnreachableError,
  UnreadableAnswerError,
} from '../../../../shared/summaries/provider-error.ts';
import { type Verdict, verdictOf } from '../../../../shared/summaries/verdict.ts';
import { startFront } from './front.ts';
import { ask, connect, KEY, KINDS, type Kind, never } from './simulated.ts';

let simulator: Simulator;
const providers: Provider[] = [];

beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());
beforeEach(() => {
  simulator.configure({ account: null, latency: { kind: 'fixed', ms: 0 }, faults: [] });
  simulator.clear();
});
afterEach(() => {
  for (const provider of providers.splice(0)) provider.close();
});

async function open(kind: Kind, ...rest: [] | [string] | [string, Parameters<typeof connect>[2]]) {
  const [url = simulator.url, limits] = rest;
  const provider = await connect(kind, url, limits);
  providers.push(provider);
  return provider;
}

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    (answer) => expect.fail(`an error was expected, there was ${JSON.stringify(answer)}`),
    (error: unknown) => error,
  );
}

/** The call ends on the caller's side first. */
async function ended(count: number) {
  await vi.waitFor(() => expect(simulator.ledger()).toHaveLength(count), { interval: 2 });
  return simulator.ledger();
}

describe.each(KINDS)('%s', (kind) => {
  test('a summary is done, with what the provider counted, and is in its records under the row', async () => {
    const provider = await open(kind);
    const answer = await provider.complete(ask('imp/7'), never);
    expect(answer).toMatchObject({
      finish: 'done',
      text: 'A chair of oak with a seat of paper cord.',
      model: kind === 'bedrock' ? 'a-model' : 'glimpse-extractive-1',
    });
    expect(await ended(1)).toMatchObject([
      { row: 'imp/7', status: 200, outcome: 'done', dialect: kind, key: 'abcd', ...answer.usage },
    ]);
    expect(answer.usage.inputTokens).toBeGreaterThan(0);
    expect(answer.usage.outputTokens).toBeGreaterThan(0);
  });

  const finishes: [FaultName, Finish][] = [
    ['truncated', 'truncated'],
    ['truncated-null', 'truncated'],
    ['refusal', kind === 'bedrock' ? 'filtered' : 'refused'],
    ['filtered', kind === 'anthropic' ? 'refused' : 'filtered'],
    ['empty', 'empty'],
  ];
  test.each(finishes)('an answer that is %s is %s, never done', async (fault, finish) => {
    const provider = await open(kind);
    simulator.configure({ faults: [{ fault }] });
    const answer = await provider.complete(ask('imp/1'), never);
    expect(answer.finish).toBe(finish);
    expect(await ended(1)).toMatchObject([{ status: 200, outcome: fault }]);
  });

  test('too small a bound of the output really truncates', async () => {
    const provider = await open(kind);
    const answer = await provider.complete(ask('imp/1', { maxOutputTokens: 3 }), never);
    expect(answer).toMatchObject({
      finish: 'truncated',
      text: 'A chair of o',
      usage: { outputTokens: 3 },
    });
  });

  const verdicts: [FaultName, Verdict['verdict'], Verdict['code']][] = [
    ['rate-requests', 'wait', 'rate-limited'],
    ['rate-tokens', 'wait', 'rate-limited'],
    kind === 'bedrock' ? ['quota', 'wait', 'rate-limited'] : ['quota', 'stop', 'quota-spent'],
    ['model-not-ready', 'wait', kind === 'bedrock' ? 'model-not-ready' : 'overloaded'],
    ['bad-request', 'row', 'request-refused'],
    ['key-refused', 'stop', 'key-refused'],
    ['forbidden', 'stop', 'key-refused'],
    ['model-not-found', 'stop', 'model-not-found'],
    ['conflict', 'wait', 'conflict'],
    ['too-large', 'row', 'too-large'],
    ['unprocessable', 'row', 'request-refused'],
    ['timeout', 'wait', 'timeout'],
    ['model-error', 'wait', 'provider-failed'],
    ['server-error', 'wait', 'provider-failed'],
    ['bad-gateway', 'wait', 'provider-failed'],
    ['unavailable', 'wait', 'overloaded'],
    ['overloaded', 'wait', 'overloaded'],
    ['reset', 'wait', 'unreachable'],
    ['reset-midway', 'wait', 'unreachable'],
    ['not-json', 'wait', 'unreadable-answer'],
  ];
  test.each(verdicts)('%s: %s, %s, after one call', async (fault, verdict, code) => {
    const provider = await open(kind);
    simulator.configure({ faults: [{ fault }] });
    const error = await errorOf(provider.complete(ask('imp/1'), never));
    const told = verdictOf(error, Date.now());
    expect(told).toMatchObject({ verdict, code });
    expect(told.message).toMatch(/^[A-Z].*\.$/);
    expect(told.message).not.toContain(KEY);
    expect(String(error) + JSON.stringify(error)).not.toContain(KEY);
    expect(await ended(1)).toMatchObject([{ row: 'imp/1', attempt: 1, outcome: fault }]);
    // A retry would come at once, or within the second in which the provider says to.
    expect(simulator.summary()).toMatchObject({ calls: 1, inFlight: 0 });
  });

  test('a hanging call ends at its time, and its connection with it', async () => {
    const provider = await open(kind, simulator.url, { callTimeoutMs: 100 });
    simulator.configure({ faults: [{ fault: 'hang' }] });
    const error = await errorOf(provider.complete(ask('imp/1'), never));
    expect(error).toBeInstanceOf(TimedOutError);
    expect(verdictOf(error, 0)).toMatchObject({ verdict: 'wait', code: 'timeout' });
    const [call] = await ended(1);
    expect(call).toMatchObject({ outcome: 'hang', status: 'aborted' });
    expect((call?.end ?? 0) - (call?.start ?? 0)).toBeLessThan(1000);
  });

  test('a call that the caller gives up is closed; one given up before is not made', async () => {
    const provider = await open(kind);
    simulator.configure({ faults: [{ fault: 'hang' }] });
    const stop = new AbortController();
    const call = errorOf(provider.complete(ask('imp/1'), stop.signal));
    await vi.waitFor(() => expect(simulator.summary().inFlight).toBe(1), { interval: 2 });
    stop.abort();
    const error = await call;
    expect(error).toBeInstanceOf(AbortedError);
    expect(verdictOf(error, 0)).toMatchObject({ verdict: 'wait', code: 'aborted' });
    expect(await ended(1)).toMatchObject([{ status: 'aborted' }]);
    const before = await errorOf(provider.complete(ask('imp/2'), stop.signal));
    expect(before).toBeInstanceOf(AbortedError);
    expect(simulator.summary()).toMatchObject({ calls: 1, inFlight: 0 });
  });

  test('as many calls as there are connections are in flight at once', async () => {
    const gate = 12;
    const provider = await open(kind, simulator.url, { connections: gate });
    simulator.configure({ faults: [{ fault: 'hang' }] });
    const stop = new AbortController();
    const calls = Array.from({ length: gate }, (_, row) =>
      errorOf(provider.complete(ask(`imp/${row}`), stop.signal)),
    );
    await vi.waitFor(() => expect(simulator.summary().inFlight).toBe(gate), { interval: 2 });
    stop.abort();
    await Promise.all(calls);
    const rows = (await ended(gate)).map(({ row }) => row);
    expect(new Set(rows).size).toBe(gate);
  });

  test('connections are kept for the next calls, and closed with the provider', async () => {
    const gate = 8;
    const front = await startFront(simulator.url, gate);
    const provider = await open(kind, front.url, { connections: gate });
    for (let round = 0; round < 3; round++) {
      const calls = Array.from({ length: gate }, (_, row) =>
        provider.complete(ask(`imp/${round}-${row}`), never),
      );
      for (const { finish } of await Promise.all(calls)) expect(finish).toBe('done');
    }
    expect(front.connections()).toBe(gate);
    provider.close();
    await front.emptied;
    front.close();
  });

  test('nobody listening is a wait', async () => {
    const gone = await startSimulator();
    await gone.stop();
    const provider = await open(kind, gone.url);
    const error = await errorOf(provider.complete(ask('imp/1'), never));
    expect(error).toBeInstanceOf(UnreachableError);
    expect(verdictOf(error, 0)).toMatchObject({
      verdict: 'wait',
      code: 'unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

/** What a server answers that is not the simulator. */
async function answering<T>(
  body: string,
  use: (url: string) => Promise<T>,
  headers: Record<string, string> = { 'content-type': 'application/json' },
  status = 200,
): Promise<T> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No address.');
  try {
    return await use(`http://127.0.0.1:${address.port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

describe.each(KINDS)('what is no answer of %s', (kind) => {
  test.each([
    '{}',
    '[]',
    'null',
    '"ok"',
    '',
    '{"choices":[]}',
    '{"model":"m","choices":[],"content":{},"output":7}',
  ])('%s is unreadable', async (body) => {
    await answering(body, async (url) => {
      const provider = await open(kind, url);
      const error = await errorOf(provider.complete(ask('imp/1'), never));
      expect(error).toBeInstanceOf(UnreadableAnswerError);
      expect(verdictOf(error, 0)).toMatchObject({ verdict: 'wait', code: 'unreadable-answer' });
    });
  });

  test('a page of HTML with status 200 is unreadable', async () => {
    const headers = { 'content-type': 'text/html' };
    await answering(
      '<html>Sign in to the café</html>',
      async (url) => {
        const provider = await open(kind, url);
        const error = await errorOf(provider.complete(ask('imp/1'), never));
        expect(error).toBeInstanceOf(UnreadableAnswerError);
      },
      headers,
    );
  });

  test('an unknown reason to end is not done, whatever the text', async () => {
    const bodies = {
      openai: {
        model: 'm',
        choices: [{ finish_reason: 'vibes', message: { content: 'Text.' } }],
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      },
      anthropic: {
        model: 'm',
        stop_reason: 'vibes',
        content: [{ type: 'text', text: 'Text.' }],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
      bedrock: {
        output: { message: { role: 'assistant', content: [{ text: 'Text.' }] } },
        stopReason: 'vibes',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      },
    };
    await answering(JSON.stringify(bodies[kind]), async (url) => {
      const provider = await open(kind, url);
      expect((await provider.complete(ask('imp/1'), never)).finish).toBe('empty');
    });
  });

  test('an error that quotes the key does not tell it', async () => {
    const message = `You may not send ${KEY} here. It is ${KEY}.`;
    const body = JSON.stringify({ message, error: { message, type: KEY, code: 'x y' } });
    await answering(
      body,
      async (url) => {
        const provider = await open(kind, url);
        const error = await errorOf(provider.complete(ask('imp/1'), never));
        expect(error).toBeInstanceOf(RefusedError);
        const { message } = verdictOf(error, 0);
        expect(message).toContain('[key]');
        expect(message).not.toContain(KEY);
      },
      { 'content-type': 'application/json', 'x-amzn-errortype': 'ValidationException' },
      400,
    );
  });
});

test('a compatible server that counts nothing is estimated', async () => {
  const body = {
    model: 'llama',
    choices: [{ finish_reason: 'stop', message: { content: 'Four tokens long' } }],
  };
  await answering(JSON.stringify(body), async (url) => {
    const provider = await open('openai', url);
    const { usage } = await provider.complete(ask('imp/1'), never);
    expect(usage).toEqual({ inputTokens: 20, outputTokens: 4 });
  });
});

test('a mistake of ours is not told as one of the network', async () => {
  const provider = await open('openai');
  const error = await errorOf(provider.complete(ask('imp/\n7'), never));
  expect(verdictOf(error, 0)).toMatchObject({ verdict: 'wait', code: 'unknown' });
  expect(simulator.summary().calls).toBe(0);
});

test('a server that wants no key gets none', async () => {
  const config = { kind: 'openai', model: 'm', callTimeoutMs: 5000, connections: 1 };
  const baseUrl = `${simulator.url}/v1/`;
  const provider = await createProvider(
    providerConfigSchema.parse({ ...config, baseUrl, outputLimit: 'max_tokens' }),
    undefined,
  );
  providers.push(provider);
  const { finish } = await provider.complete(ask('imp/1', { maxOutputTokens: 2 }), never);
  expect(finish).toBe('truncated');
  expect(await ended(1)).toMatchObject([{ status: 200, key: '' }]);
});

test("Bedrock without a key is called with the function's own role", async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAIOSFODNN7EXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY');
  const config = { kind: 'bedrock', model: 'm:0', callTimeoutMs: 5000, connections: 1 };
  const place = { region: 'eu-west-1', baseUrl: simulator.url };
  const provider = await createProvider(
    providerConfigSchema.parse({ ...config, ...place }),
    undefined,
  );
  providers.push(provider);
  expect(await provider.complete(ask('imp/1'), never)).toMatchObject({ finish: 'done' });
  expect(await ended(1)).toMatchObject([{ status: 200, key: 'MPLE' }]);
  vi.unstubAllEnvs();
});

test('limits come with the answer and with the refusal', async () => {
  const account = { requestsPerMinute: 60, tokensPerMinute: 60_000, burstSeconds: 1 };
  simulator.configure({ account });
  const provider = await open('openai');
  const { limits } = await provider.complete(ask('imp/1'), never);
  expect(limits).toMatchObject({
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '0',
  });
  const error = await errorOf(provider.complete(ask('imp/2'), never));
  const verdict = verdictOf(error, Date.now());
  expect(verdict).toMatchObject({ verdict: 'wait', code: 'rate-limited' });
  expect('retryAfterMs' in verdict && verdict.retryAfterMs).toBeGreaterThan(500);
  expect('retryAfterMs' in verdict && verdict.retryAfterMs).toBeLessThanOrEqual(1000);
  expect(error).toHaveProperty(['limits', 'x-ratelimit-remaining-requests'], '0');
});
