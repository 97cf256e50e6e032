import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { config } from '../cdk/config.ts';
import { parseConfig } from '../cdk/config-schema.ts';
import { createAllowance } from '../shared/fleet/allowance.ts';
import { createSoloLine } from '../shared/fleet/solo-line.ts';
import { createProvider, providerConfigSchema } from '../shared/summaries/create-provider.ts';
import { costUsd, usd } from '../shared/summaries/estimate.ts';
import { drawChart } from './chart.ts';
import { type Measured, measure, type Sweep } from './sweep/measure.ts';
import { bestOf, nextStep } from './sweep/steps.ts';
import { openProviderAddress, UsageError } from './target.ts';

const KEY = 'GLIMPSE_PROVIDER_KEY';

const HELP = `Finds the fleet bound: raises the calls in flight step by step until the work that is completed in
a minute stops improving, draws the curve and names the number.

  npm run sweep -- [options]

  --provider        the provider of cdk/config.ts, with the key in ${KEY}; without it, the
                    simulator of the local cloud that "npm start" runs. Real calls cost real money
  --from N          the first bound (4)
  --to N            the last bound to try (512)
  --seconds N       how long each step takes, 5 to 600 (20)
  --out FILE        where the curve goes (.glimpse/sweep.svg)
  --json            the steps and the number as JSON
  --state DIR       the local cloud's, where "npm start -- --state DIR" has another than .glimpse
  --help

No step calls faster than the account of cdk/config.ts permits. Run it while the fleet rests: both
would share the account.`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      provider: { type: 'boolean', default: false },
      from: { type: 'string', default: '4' },
      to: { type: 'string', default: '512' },
      seconds: { type: 'string', default: '20' },
      out: { type: 'string', default: '.glimpse/sweep.svg' },
      json: { type: 'boolean', default: false },
      state: { type: 'string', default: '.glimpse' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const first = wholeNumber('--from', values.from, 1, 5000);
  const most = wholeNumber('--to', values.to, first, 5000);
  const stepMs = wholeNumber('--seconds', values.seconds, 5, 600) * 1000;
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());

  const { sweep, perMinute, address, close } = await open(values, most, stop.signal);
  const say = values.json ? () => {} : console.log;
  say(`Sweep of ${address}, ${stepMs / 1000} s a step, at most ${count(perMinute)} calls a minute`);
  const steps: Measured[] = [];
  let end = '';
  while (end === '' && !stop.signal.aborted) {
    const next = nextStep(steps, first, most);
    if ('end' in next) {
      end = next.end;
      break;
    }
    showProgress(`${next.bound} in flight …`);
    const step = await measure(sweep, next.bound, stepMs);
    endProgress();
    if (stop.signal.aborted) break;
    steps.push(step);
    say(describe(step));
  }
  close();
  const best = bestOf(steps);
  if (best === undefined || best.answeredPerMinute === 0) {
    if (stop.signal.aborted) return interrupted(say);
    throw new UsageError('No call was answered: there is no curve to draw.');
  }
  await save(values.out, steps, perMinute);
  if (values.json) {
    console.log(JSON.stringify({ fleetBound: best.bound, end, steps, perMinute }, undefined, 2));
  } else {
    report(steps, best, end, perMinute, values.out);
  }
  if (stop.signal.aborted) interrupted(say);
}

function interrupted(say: (line: string) => void): void {
  say('Stopped.');
  process.exitCode = 130;
}

async function open(
  { provider: isReal, state }: { provider: boolean; state: string },
  connections: number,
  signal: AbortSignal,
): Promise<{ sweep: Sweep; perMinute: number; address: string; close: () => void }> {
  const { summaries } = parseConfig(config);
  const { kind, model, baseUrl, outputLimit, region } = summaries.provider;
  const given = Object.fromEntries(
    Object.entries({ kind, model, baseUrl, outputLimit, region }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const key = process.env[KEY];
  if (isReal && key === undefined && kind !== 'bedrock') {
    throw new UsageError(
      `Expected the provider's key in the environment variable ${KEY}, got none.`,
    );
  }
  const simulator = isReal ? undefined : await openProviderAddress(state);
  const provider = await createProvider(
    providerConfigSchema.parse({
      ...(simulator === undefined ? given : { kind: 'openai', model, baseUrl: `${simulator}/v1` }),
      callTimeoutMs: summaries.callTimeoutSeconds * 1000,
      connections,
    }),
    isReal ? key : 'sk-sweep',
  );
  const { requestsPerMinute, tokensPerMinute } = summaries.account;
  const allowance = createAllowance({
    settings: {
      line: 'bulk',
      requestsPerMinute,
      tokensPerMinute,
      interactiveShare: 0,
      frameSeconds: 2,
      reserve: 0,
    },
    mode: 'bulk',
    line: createSoloLine(),
    time: { now: Date.now, heard: () => {}, askIn: () => undefined },
    sleep: (ms, wake) => sleep(ms, undefined, { signal: wake }),
    random: Math.random,
    onStoreError: () => {},
  });
  return {
    sweep: {
      provider,
      allowance,
      instructions: summaries.prompt.instructions,
      limits: {
        inputCharacters: summaries.prompt.maxInputCharacters,
        outputTokens: summaries.prompt.maxOutputTokens,
      },
      signal,
      now: Date.now,
    },
    perMinute: requestsPerMinute,
    address: simulator === undefined ? `${kind} ${model}` : 'the local simulator',
    close: () => provider.close(),
  };
}

function describe({ bound, answeredPerMinute, refusedPerMinute, serviceMs }: Measured): string {
  return [
    `${String(bound).padStart(5)} in flight`,
    `${count(answeredPerMinute).padStart(8)} answered a minute`,
    `${count(refusedPerMinute).padStart(6)} refused`,
    serviceMs === undefined ? '' : `${serviceMs} ms a call`,
  ].join('  ');
}

const REASONS: Readonly<Record<string, string>> = {
  flat: 'More calls in flight complete no more work.',
  refused: 'The provider refuses calls: the account is at its end.',
  most: 'The last bound to try was reached while work still grew: raise --to.',
};

function report(
  steps: readonly Measured[],
  best: Measured,
  end: string,
  perMinute: number,
  out: string,
): void {
  const { summaries } = parseConfig(config);
  const tokens = {
    inputTokens: steps.reduce((all, step) => all + step.inputTokens, 0),
    outputTokens: steps.reduce((all, step) => all + step.outputTokens, 0),
  };
  const used = Math.round((best.answeredPerMinute / perMinute) * 100);
  console.log(REASONS[end] ?? '');
  console.log(
    `Fleet bound: ${best.bound} calls in flight complete ${count(best.answeredPerMinute)} a minute, ${used} % of the account, at ${best.serviceMs} ms a call.`,
  );
  console.log(
    `The curve is in ${out}. The sweep used ${count(tokens.inputTokens + tokens.outputTokens)} tokens, ${usd(costUsd(tokens, summaries.prices))} by the configured prices.`,
  );
}

async function save(out: string, steps: readonly Measured[], perMinute: number): Promise<void> {
  await mkdir(dirname(out), { recursive: true });
  await writeFile(
    out,
    drawChart({
      title: 'Work completed by calls in flight',
      x: 'calls in flight',
      y: 'calls a minute',
      series: [
        {
          name: 'answered',
          color: '#1d7f5f',
          points: steps.map(({ bound, answeredPerMinute }) => [bound, answeredPerMinute]),
        },
        {
          name: 'refused',
          color: '#c0392b',
          points: steps.map(({ bound, refusedPerMinute }) => [bound, refusedPerMinute]),
        },
      ],
      line: { name: 'the account', y: perMinute },
    }),
  );
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new UsageError(`${option}: expected a whole number from ${least} to ${most}, got ${text}.`);
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function showProgress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`);
}

function endProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}

try {
  await main();
} catch (error) {
  endProgress();
  console.error(error instanceof Error ? `sweep: ${error.message}` : error);
  process.exitCode = 1;
}
