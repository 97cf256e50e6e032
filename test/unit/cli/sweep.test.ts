import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { config } from '../../../cdk/config.ts';
import { readConfig } from '../../../cdk/config-schema.ts';
import { planInputOf } from '../../../cdk/plan-input.ts';
import type { Measured } from '../../../cli/sweep/measure.ts';
import { prepareOut, readArguments } from '../../../cli/sweep/options.ts';
import { accountPerMinute, type Report, reportInWords } from '../../../cli/sweep/report.ts';
import { runSweep, type SweepOptions } from '../../../cli/sweep/run-sweep.ts';
import { bestOf, nextStep, type Step } from '../../../cli/sweep/steps.ts';
import { UsageError } from '../../../cli/usage-error.ts';
import { type Simulator, startSimulator } from '../../../local/provider/simulator.ts';
import { createAllowance } from '../../../shared/fleet/allowance.ts';
import { lineOf } from '../../../shared/fleet/numbers.ts';
import { planFleet } from '../../../shared/fleet/plan.ts';
import { createSoloLine } from '../../../shared/fleet/solo-line.ts';
import type { Provider } from '../../../shared/summaries/provider.ts';
import {
  AbortedError,
  RefusedError,
  UnreachableError,
} from '../../../shared/summaries/provider-error.ts';
import { createVirtualTime } from '../../virtual-time.ts';

/** An account of 6,000 calls a minute at 800 ms: 75 a minute for each call in flight, until it is used up. */
function step(bound: number, most = 6000): Step {
  return {
    bound,
    answeredPerMinute: Math.min(bound * 75, most),
    refusedPerMinute: 0,
    failedPerMinute: 0,
    serviceMs: 800,
  };
}

function sweep(first: number, most: number, answer: (bound: number) => Step) {
  const steps: Step[] = [];
  while (steps.length < 100) {
    const next = nextStep(steps, first, most);
    if ('end' in next) return { steps, end: next.end };
    steps.push(answer(next.bound));
  }
  return expect.fail('A sweep without an end.');
}

test('a sweep ends when more calls in flight complete no more, and names the fewest that do', () => {
  const { steps, end } = sweep(4, 512, (bound) => step(bound));
  expect(end).toBe('flat');
  expect(steps.map(({ bound }) => bound)).toEqual([4, 6, 9, 14, 21, 32, 48, 72, 108, 162, 243]);
  expect(bestOf(steps)?.bound).toBe(108);
});

test('one slow step is bad luck, two are the end', () => {
  const { steps } = sweep(4, 512, (bound) => ({ ...step(bound === 14 ? 9 : bound), bound }));
  expect(bestOf(steps)?.bound).toBe(108);
  const { steps: short, end } = sweep(4, 512, (bound) => ({ ...step(Math.min(bound, 9)), bound }));
  expect(end).toBe('flat');
  expect(short.map(({ bound }) => bound)).toEqual([4, 6, 9, 14, 21]);
  expect(bestOf(short)?.bound).toBe(9);
});

test('a provider that refuses more than two in a hundred ends it', () => {
  const { steps, end } = sweep(4, 512, (bound) => ({
    ...step(bound),
    refusedPerMinute: bound > 20 ? 200 : 5,
  }));
  expect(end).toBe('refused');
  expect(steps.at(-1)?.bound).toBe(21);
});

test('what is recommended is not a bound at which calls are refused', () => {
  const refused = { ...step(21), refusedPerMinute: 200 };
  expect(bestOf([step(9), step(14), refused])?.bound).toBe(14);
  expect(bestOf([refused])?.bound).toBe(21);
  expect(bestOf([{ ...step(4), answeredPerMinute: 0 }])).toBeUndefined();
});

test('a provider of whose calls more than two in a hundred fail ends it, and not as one that refuses', () => {
  const { steps, end } = sweep(4, 512, (bound) => ({
    ...step(bound),
    failedPerMinute: bound > 20 ? 200 : 5,
  }));
  expect(end).toBe('failed');
  expect(steps.at(-1)?.bound).toBe(21);
});

test('the last bound is the one that was asked for', () => {
  const { steps, end } = sweep(4, 30, (bound) => step(bound));
  expect(end).toBe('most');
  expect(steps.map(({ bound }) => bound)).toEqual([4, 6, 9, 14, 21, 30]);
});

test('any sweep ends, never goes past its last bound and never back', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 50, max: 5000 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 10_000 })),
      (first, most, answers) => {
        const { steps } = sweep(first, most, (bound) => ({
          bound,
          answeredPerMinute: answers.next().value ?? 0,
          refusedPerMinute: 0,
          failedPerMinute: 0,
          serviceMs: 800,
        }));
        const bounds = steps.map(({ bound }) => bound);
        expect(Math.max(...bounds)).toBeLessThanOrEqual(most);
        expect(bounds).toEqual([...new Set(bounds)].sort((a, b) => a - b));
      },
    ),
  );
});

describe('a sweep of a provider', () => {
  const error = (status: number, code: string) =>
    new RefusedError({
      kind: 'openai',
      status,
      codes: [code],
      detail: 'No.',
      limits: {},
      key: undefined,
    });

  /** Calls of 100 ms, of which twenty a second may begin; `fails` is asked for the error of each. */
  function open(fails: (call: number) => Error | undefined = () => undefined) {
    const time = createVirtualTime(Date.UTC(2026, 0, 5));
    const { now, sleep } = time;
    const calls: number[] = [];
    const rows: string[] = [];
    let inFlight = 0;
    const most = { inFlight: 0 };
    const provider: Provider = {
      model: 'a-model',
      close: () => {},
      async complete({ row }, signal) {
        const call = calls.push(now());
        rows.push(row);
        most.inFlight = Math.max(most.inFlight, ++inFlight);
        await sleep(100, signal).finally(() => (inFlight -= 1));
        if (signal.aborted) throw new AbortedError(signal.reason);
        const failure = fails(call);
        if (failure !== undefined) throw failure;
        const usage = { inputTokens: 100, outputTokens: 50 };
        return { finish: 'done', text: 'A table.', usage, model: 'a-model', limits: {} };
      },
    };
    const allowance = createAllowance({
      settings: {
        line: 'bulk',
        requestsPerMinute: 1200,
        tokensPerMinute: null,
        interactiveShare: 0,
        frameSeconds: 2,
        reserve: 0,
      },
      mode: 'bulk',
      line: createSoloLine(),
      time: { now, heard: () => {}, askIn: () => undefined },
      sleep,
      random: () => 0.5,
      onStoreError: () => {},
    });
    const stop = new AbortController();
    const limits = { inputCharacters: 8000, outputTokens: 200 };
    const run = async (options: Partial<SweepOptions> = {}) => {
      let isOver = false;
      const swept = runSweep(
        {
          name: 'a-sweep',
          provider,
          allowance,
          instructions: 'Sum up.',
          limits,
          signal: stop.signal,
          now,
          sleep,
        },
        {
          first: 1,
          most: 20,
          stepMs: 20_000,
          onBegin: () => {},
          onStep: () => {},
          ...options,
        },
      ).finally(() => {
        isOver = true;
      });
      // Whoever waits for it hears of it.
      swept.catch(() => {});
      while (!isOver) await time.pass(now() + 1000);
      return await swept;
    };
    return { run, calls, rows, most, stop, now };
  }

  test('finds where more in flight complete no more, and calls no faster than the account', async () => {
    const { run, calls, most } = open();
    const { steps, end, failure } = await run();
    expect({ end, failure }).toEqual({ end: 'flat', failure: undefined });
    expect(steps.map(({ bound }) => bound)).toEqual([1, 2, 3, 5, 8]);
    // One makes less than ten a second: after each call it waits for the next slot of the account.
    expect(steps[0]?.answeredPerMinute).toBeGreaterThan(400);
    expect(steps[0]?.answeredPerMinute).toBeLessThanOrEqual(600);
    expect(steps.at(-1)?.answeredPerMinute).toBeGreaterThan(1140);
    for (const { answeredPerMinute, serviceMs, ...step } of steps) {
      expect(answeredPerMinute).toBeLessThanOrEqual(1200);
      expect(serviceMs).toBe(100);
      expect(step).toMatchObject({ refusedPerMinute: 0, failedPerMinute: 0 });
    }
    expect(most.inFlight).toBeLessThanOrEqual(8);
    expect(steps.reduce((all, { calls }) => all + calls, 0)).toBe(calls.length);
    const seconds = Map.groupBy(calls, (at) => Math.floor(at / 1000));
    expect(Math.max(...[...seconds.values()].map(({ length }) => length))).toBeLessThanOrEqual(20);
  });

  test('gives each call a row that no other has, in any step or any other sweep', async () => {
    const { run, rows } = open();
    await run();
    expect(new Set(rows).size).toBe(rows.length);
    for (const row of rows) expect(row).toMatch(/^a-sweep\/\d+\/\d+$/);
  });

  test('ends where an account lets less through than is configured', async () => {
    const { run } = open((call) =>
      call % 10 === 0 ? error(429, 'rate_limit_exceeded') : undefined,
    );
    const { steps, end, failure } = await run({ first: 4 });
    expect({ end, failure }).toEqual({ end: 'refused', failure: undefined });
    expect(steps).toHaveLength(1);
    expect(steps[0]).toMatchObject({ bound: 4, failedPerMinute: 0 });
    expect(steps[0]?.refusedPerMinute).toBeGreaterThan(0);
  });

  test('ends where calls fail, and tells for what', async () => {
    const { run } = open((call) => (call % 10 === 0 ? error(500, 'server_error') : undefined));
    const { steps, end, failure } = await run({ first: 4 });
    expect(end).toBe('failed');
    expect(failure).toMatch(/^The provider failed/);
    expect(steps[0]).toMatchObject({ bound: 4, refusedPerMinute: 0 });
  });

  test('says at once why a provider cannot be called, and calls it no more', async () => {
    const refusing = open((call) => (call === 5 ? error(401, 'invalid_api_key') : undefined));
    const began = refusing.now();
    await expect(refusing.run({ first: 4 })).rejects.toThrow(/^The provider refused the key/);
    expect(refusing.calls.length).toBeLessThan(5 + 4);
    expect(refusing.now() - began).toBeLessThan(5000);

    const silent = open(() => new UnreachableError('ECONNREFUSED', undefined));
    await expect(silent.run({ first: 4 })).rejects.toThrow(
      /^There is no connection to the provider \(ECONNREFUSED\)/,
    );
    expect(silent.calls.length).toBeLessThan(12);
  });

  test('keeps what it has measured when no call can succeed any more', async () => {
    const { run } = open((call) => (call > 250 ? error(429, 'insufficient_quota') : undefined));
    const { steps, end, failure } = await run();
    expect(end).toBe('failed');
    expect(failure).toMatch(/quota or spend limit is used up/);
    expect(steps.map(({ bound }) => bound)).toEqual([1]);
  });

  test('keeps what it has measured when it is stopped, and begins no other call', async () => {
    const { run, stop, calls } = open();
    let before = 0;
    const { steps, end } = await run({
      onBegin(bound) {
        if (bound < 3) return;
        before = calls.length;
        stop.abort();
      },
    });
    expect(end).toBe('stopped');
    expect(steps.map(({ bound }) => bound)).toEqual([1, 2]);
    expect(calls.length).toBe(before);
  });
});

describe('what a sweep says', () => {
  const input = planInputOf(readConfig(config));
  const measured = (bound: number, answeredPerMinute: number, changes = {}): Measured => ({
    ...step(bound),
    answeredPerMinute,
    calls: 1000,
    inputTokens: 150_000,
    outputTokens: 100_000,
    failure: undefined,
    ...changes,
  });
  const wordsOf = (best: Measured, changes: Partial<Report> & { end?: Report['swept']['end'] }) => {
    const { end = 'flat', ...others } = changes;
    return reportInWords({
      swept: { steps: [measured(4, 300), best], end, failure: undefined },
      best,
      line: lineOf(planFleet(others.input ?? input), 'bulk'),
      mode: 'bulk',
      input,
      prices: config.summaries.prices,
      isSimulator: false,
      ...others,
    }).join('\n');
  };

  test('the number, what it uses of the account, and that the plan is enough for it', () => {
    expect(wordsOf(measured(72, 4950), {})).toBe(
      [
        'More calls in flight complete no more work.',
        'Fleet bound: 72 calls in flight complete 4,950 a minute, 99 % of what the account lets through, at 800 ms a call.',
        'The plan of cdk/config.ts has 130 in flight on this account, enough for that.',
        'It took 500,000 tokens, 0.44 USD by the configured prices.',
      ].join('\n'),
    );
  });

  test('an account is what its tokens let through, where these are fewer', () => {
    const steps = [measured(4, 300)];
    const account = { requestsPerMinute: 5000, tokensPerMinute: 500_000 };
    expect(accountPerMinute(account, steps)).toBe(2000);
    expect(accountPerMinute({ ...account, tokensPerMinute: null }, steps)).toBe(5000);
    expect(accountPerMinute(account, [])).toBe(5000);
  });

  test('what the plan is made of and is not so, with the command that shows what follows', () => {
    expect(wordsOf(measured(162, 4950), {})).toMatch(
      /has 130 in flight on this account, too few for that\.\n"npm run plan -- --headroom 2\.43" shows/,
    );
    expect(wordsOf(measured(162, 4950, { serviceMs: 1934 }), {})).toMatch(
      /too few for that\.\nIt takes calls for 0\.8 s long: "npm run plan -- --service-seconds 1\.9" shows/,
    );
    const own = { account: input.account, measured: input.measured };
    const parted = { ...input, bulk: { batchChunks: 4, own } };
    expect(wordsOf(measured(72, 4950, { serviceMs: 400 }), { input: parted })).toMatch(
      /"npm run plan -- --bulk-service-seconds 0\.4" shows/,
    );
    expect(wordsOf(measured(1000, 4950), {})).not.toMatch(/headroom/);
  });

  test('that the provider has less than the account promises, and where to look', () => {
    expect(wordsOf(measured(48, 3000), {})).toMatch(
      /lets 5,000 a minute through: the provider, the network or this machine/,
    );
    expect(wordsOf(measured(48, 3000), { end: 'refused' })).toMatch(
      /^The provider refuses calls[\s\S]*lets 5,000 a minute through, the provider does not: compare/,
    );
    expect(wordsOf(measured(48, 3000), { end: 'most' })).toMatch(
      /raise --to\.\nThe best that was tried: 48 calls in flight/,
    );
    expect(wordsOf(measured(48, 3000), { isSimulator: true })).toMatch(
      /This was the simulator on this machine: --provider measures yours\.$/,
    );
  });
});

describe('npm run sweep', () => {
  let simulator: Simulator;
  let state: string;
  beforeAll(async () => {
    simulator = await startSimulator({ latency: { kind: 'fixed', ms: 100 } });
    state = await mkdtemp(join(tmpdir(), 'glimpse-sweep-'));
    const endpoints = { provider: simulator.url };
    await writeFile(join(state, 'endpoints.json'), JSON.stringify(endpoints));
  });
  afterAll(async () => {
    await simulator.stop();
    await rm(state, { recursive: true });
  });

  const start = (...options: string[]) => {
    const child = spawn(process.execPath, ['cli/sweep.ts', ...options], {
      env: { ...process.env, GLIMPSE_PROVIDER_KEY: '' },
    });
    const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]).then(
      ([stdout, stderr, [status]]) => ({ status, stdout, stderr }),
    );
    return { child, ended };
  };

  test.concurrent('tells a program what it found, and draws the curve', async () => {
    const out = join(state, 'curves', 'sweep.svg');
    const options = ['--from', '4', '--to', '4', '--seconds', '5', '--json', '--out', out];
    const { status, stdout, stderr } = await start('--state', state, ...options).ended;
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const found = z
      .strictObject({
        fleetBound: z.null(),
        best: z.literal(4),
        end: z.literal('most'),
        accountPerMinute: z.number(),
        plannedInFlight: z.literal(130),
        curve: z.literal(out),
        steps: z.array(z.looseObject({ bound: z.literal(4), answeredPerMinute: z.number() })),
      })
      .parse(JSON.parse(stdout));
    expect(found.steps).toHaveLength(1);
    const drawn = await readFile(out, 'utf8');
    expect(drawn).toMatch(/^<svg .*<\/svg>\n$/s);
    expect(drawn.match(/<circle /g)).toHaveLength(2);
    expect(drawn).not.toContain('fleet bound');
    expect(drawn).not.toMatch(/NaN|undefined|Infinity/);
  });

  test.concurrent('is stopped by Ctrl-C in the middle of a step', async () => {
    const { child, ended } = start('--state', state, '--seconds', '600');
    await expect.poll(() => simulator.summary().calls, { timeout: 60_000 }).toBeGreaterThan(0);
    child.kill('SIGINT');
    const { status, stderr } = await ended;
    expect({ status, stderr }).toEqual({
      status: 130,
      stderr:
        '\nStopping: the calls in flight are given up, and what was measured is told. Once more ends it at once.\nsweep: Stopped before there was a step to tell of.\n',
    });
  });

  test.concurrent('ends with 2 if it is called wrongly, before it calls anybody', async () => {
    const none = join(state, 'none');
    const [noCloud, noKey] = await Promise.all([
      start('--state', none).ended,
      start('--provider', '--out', join(state, 'sweep.svg')).ended,
    ]);
    expect(noCloud).toEqual({
      status: 2,
      stdout: '',
      stderr: `sweep: There is no ${none}/endpoints.json: start the local cloud with "npm start", or name the configured provider with --provider.\n`,
    });
    expect(noKey).toEqual({
      status: 2,
      stdout: '',
      stderr:
        "sweep: Expected the provider's key in the environment variable GLIMPSE_PROVIDER_KEY, got none.\n",
    });
  });
});

test.each<[string[], string | RegExp]>([
  [['--workers', '3'], 'Expected an option that there is, got --workers. See --help.'],
  [['more'], 'Expected options only, got "more". See --help.'],
  [['--from', '0'], '--from: expected a whole number from 1 to 5000, got "0".'],
  [['--from', '-5'], '--from: expected a whole number from 1 to 5000, got "-5".'],
  [['--to', '1e3'], '--to: expected a whole number from 1 to 5000, got "1e3".'],
  [['--from', '600'], '--to: expected --from (600) or more, got 512.'],
  [['--seconds', '4'], '--seconds: expected a whole number from 5 to 600, got "4".'],
  [['--mode', 'fast'], '--mode: expected interactive or bulk, got "fast".'],
  [['--out', ''], '--out: expected a value, got "".'],
])('%j is a mistake that one sentence names', (given, sentence) => {
  expect(() => readArguments(given)).toThrow(UsageError);
  expect(() => readArguments(given)).toThrow(sentence);
});

test('what is not said is as usual', () => {
  expect(readArguments([])).toEqual({
    mode: 'bulk',
    first: 4,
    most: 512,
    stepMs: 20_000,
    isReal: false,
    isJson: false,
    out: '.glimpse/sweep.svg',
    state: '.glimpse',
  });
  expect(readArguments(['--help', '--from', 'x'])).toBeUndefined();
});

test('a place for the curve that cannot be written to is found out at once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'glimpse-sweep-'));
  await writeFile(join(folder, 'file'), '');
  await expect(prepareOut(folder)).rejects.toThrow(
    `--out: expected a file, got the folder ${folder}.`,
  );
  await expect(prepareOut(join(folder, 'file/x.svg'))).rejects.toThrow(
    /^--out: expected a file in a folder that can be made, got .*file\/x\.svg\.$/,
  );
  const curve = await prepareOut(join(folder, 'new/deep/x.svg'));
  expect(curve.made).toBe(join(folder, 'new'));
  expect((await prepareOut(join(folder, 'new/deep/x.svg'))).made).toBeUndefined();
  expect((await prepareOut('sweep.svg')).file).toBe(join(process.cwd(), 'sweep.svg'));
  // What cannot be known before is told in one sentence, too.
  await rm(folder, { recursive: true });
  await expect(curve.write('<svg/>')).rejects.toThrow(
    /^The curve could not be written to .*new\/deep\/x\.svg: ENOENT.*\.$/,
  );
});
