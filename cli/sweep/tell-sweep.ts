import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { config } from '../../cdk/config.ts';
import { readConfig } from '../../cdk/config-schema.ts';
import { planInputOf } from '../../cdk/plan-input.ts';
import { providerOf } from '../../cdk/summaries-schema.ts';
import { createAllowance } from '../../shared/fleet/allowance.ts';
import { lineOf } from '../../shared/fleet/numbers.ts';
import { planFleet } from '../../shared/fleet/plan.ts';
import type { Account } from '../../shared/fleet/plan-input.ts';
import { createSoloLine } from '../../shared/fleet/solo-line.ts';
import { createProvider, providerConfigSchema } from '../../shared/summaries/create-provider.ts';
import { drawChart } from '../chart.ts';
import { printable } from '../printable.ts';
import { createProgress } from '../progress.ts';
import { INTERRUPTED, stopBySignals } from '../stop-by-signals.ts';
import { openProviderAddress } from '../target.ts';
import { UsageError } from '../usage-error.ts';
import { type Measured, StoppedError, type Sweep } from './measure.ts';
import { PROVIDER_KEY, prepareOut, type SweepArguments } from './options.ts';
import { accountPerMinute, count, isFound, reportInWords } from './report.ts';
import { runSweep, type Swept } from './run-sweep.ts';
import { bestOf } from './steps.ts';

/** Sweeps, and tells of each step and of the number that was found. */
export async function tellSweep(options: SweepArguments): Promise<void> {
  const { summaries, ...others } = readConfig(config);
  const input = planInputOf({ summaries, ...others });
  const { mode, isJson, first, most, stepMs, isReal } = options;
  const line = lineOf(planFleet(input), mode);
  const say = isJson ? () => {} : (line: string) => console.log(printable(line));
  const progress = createProgress();
  const curve = await prepareOut(options.out);
  if (curve.made !== undefined) say(`Made the folder ${curve.made} for the curve.`);
  const signal = stopBySignals('the calls in flight are given up, and what was measured is told');
  const { sweep, address } = await open(options, line.account, signal);
  const { requestsPerMinute, tokensPerMinute } = line.account;
  const tokens = tokensPerMinute === null ? '' : ` and ${count(tokensPerMinute)} tokens`;
  say(
    `Sweep of ${address}: ${stepMs / 1000} s a step, ${count(requestsPerMinute)} calls${tokens} a minute at most`,
  );
  const swept = await runSweep(sweep, {
    first,
    most,
    stepMs,
    onBegin: (bound) => progress.show(`${bound} in flight …`),
    onStep(step) {
      progress.end();
      say(describe(step));
    },
  }).finally(() => {
    progress.end();
    sweep.provider.close();
  });
  if (swept.end === 'stopped') process.exitCode = INTERRUPTED;
  const best = bestOf(swept.steps);
  if (best === undefined) {
    if (swept.end === 'stopped')
      throw new StoppedError('Stopped before there was a step to tell of.');
    throw new StoppedError(
      `No call was answered: ${swept.failure ?? 'the provider refused each for its rate.'}`,
    );
  }
  if (swept.end === 'failed') process.exitCode = 1;
  const perMinute = accountPerMinute(line.account, swept.steps);
  if (isJson) {
    const { steps, end, failure } = swept;
    const found = {
      fleetBound: isFound(swept) ? best.bound : null,
      best: best.bound,
      end,
      failure,
      accountPerMinute: perMinute,
      plannedInFlight: line.inFlight,
      curve: curve.file,
    };
    console.log(JSON.stringify({ ...found, steps }, undefined, 2));
  } else {
    const { prices } = summaries;
    const words = reportInWords({
      swept,
      best,
      line,
      mode,
      input,
      prices,
      isSimulator: !isReal,
    });
    for (const sentence of words) say(sentence);
  }
  await curve.write(draw(swept, best, perMinute));
  say(`The curve is in ${curve.file}.`);
}

async function open(
  { isReal, mode, state, most }: SweepArguments,
  { requestsPerMinute, tokensPerMinute }: Account,
  signal: AbortSignal,
): Promise<{ sweep: Sweep; address: string }> {
  const { summaries } = readConfig(config);
  const { keyParameter: _, ...configured } = providerOf(summaries.provider, summaries[mode]);
  const { kind, model } = configured;
  // An empty variable is none.
  const key = process.env[PROVIDER_KEY] || undefined;
  if (isReal && key === undefined && kind !== 'bedrock') {
    throw new UsageError(
      `Expected the provider's key in the environment variable ${PROVIDER_KEY}, got none.`,
    );
  }
  const simulator = isReal ? undefined : await openProviderAddress(state);
  const provider = await createProvider(
    providerConfigSchema.parse({
      ...(simulator === undefined
        ? defined(configured)
        : { kind: 'openai', model, baseUrl: `${simulator}/v1` }),
      callTimeoutMs: summaries.callTimeoutSeconds * 1000,
      connections: most,
    }),
    isReal ? key : 'sk-sweep',
  );
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
    sleep: rest,
    random: Math.random,
    onStoreError: () => {},
  });
  return {
    sweep: {
      name: `sweep-${randomUUID().slice(0, 8)}`,
      provider,
      allowance,
      instructions: summaries.prompt.instructions,
      limits: {
        inputCharacters: summaries.prompt.maxInputCharacters,
        outputTokens: summaries.prompt.maxOutputTokens,
      },
      signal,
      now: Date.now,
      sleep: rest,
    },
    address: simulator === undefined ? `${kind} ${model}` : 'the simulator on this machine',
  };
}

const rest = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal });

function defined(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function describe(step: Measured): string {
  const { bound, answeredPerMinute, refusedPerMinute, failedPerMinute, serviceMs } = step;
  return [
    `${String(bound).padStart(5)} in flight`,
    `${count(answeredPerMinute).padStart(8)} answered a minute`,
    `${count(refusedPerMinute).padStart(6)} refused`,
    ...(failedPerMinute === 0 ? [] : [`${count(failedPerMinute).padStart(6)} failed`]),
    ...(serviceMs === undefined ? [] : [`${count(serviceMs).padStart(6)} ms a call`]),
  ].join('  ');
}

function draw(swept: Swept, best: Measured, perMinute: number): string {
  const pointsOf = (of: (step: Measured) => number) =>
    swept.steps.map((step) => [step.bound, of(step)] as const);
  return drawChart({
    title: 'Work completed by calls in flight',
    x: 'calls in flight',
    y: 'calls a minute',
    series: [
      {
        name: 'answered',
        color: '#1d7f5f',
        points: pointsOf(({ answeredPerMinute }) => answeredPerMinute),
      },
      {
        name: 'refused',
        color: '#c0392b',
        points: pointsOf(({ refusedPerMinute }) => refusedPerMinute),
      },
    ],
    line: { name: 'the account', y: perMinute },
    ...(isFound(swept) ? { mark: { name: `fleet bound ${best.bound}`, x: best.bound } } : {}),
  });
}
