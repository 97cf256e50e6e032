import { expect, test } from 'vitest';
import type { Mode } from '../../../../shared/fleet/allowance-settings.ts';
import { diagnoseFleet, type FleetFacts } from '../../../../shared/fleet/diagnose-fleet.ts';
import { NOTHING_KNOWN } from '../../../../shared/fleet/line-item.ts';
import { measure } from '../../../../shared/fleet/measure.ts';
import { planNumbers } from '../../../../shared/fleet/numbers.ts';
import type { PlanInput } from '../../../../shared/fleet/plan-input.ts';
import { NO_USAGE, type Usage, type UsageItem } from '../../../../shared/fleet/usage-item.ts';
import { PLAN_INPUT as INPUT } from '../../../plan-input.ts';

// What an operator is told in the situations that he meets, from what the workers add up.

const START = 1_800_000_000;
/** Seconds of work that some situations look back at. */
const LONG = 300;

interface Doing {
  /** Seconds after `START`, and until when: for ever without it. */
  readonly from: number;
  readonly to?: number;
  readonly callsPerSecond: number;
  /** Seconds a call. */
  readonly service?: number;
  readonly refusedPerSecond?: number;
  readonly failedPerSecond?: number;
  /** Rows at a time. */
  readonly waiting?: Partial<Record<'gate' | 'allowance' | 'yield' | 'refused', number>>;
  readonly processes: number;
  /** Requests a minute, as the provider's answers state them. */
  readonly told?: number;
}

/** What workers have written up to a time, a second after the other. */
function itemsOf(doings: readonly Doing[], until: number): UsageItem[] {
  const items = new Map<number, Usage & Pick<UsageItem, 'toldRequests'>>();
  for (const { from, to = Infinity, callsPerSecond, service = 0.8, waiting, ...rest } of doings) {
    for (let second = from; second < Math.min(to, until); second += 1) {
      const at = Math.floor(second / 10) * 10;
      const before = items.get(at) ?? { ...NO_USAGE, toldRequests: undefined };
      items.set(at, {
        ...before,
        calls: before.calls + callsPerSecond,
        refused: before.refused + (rest.refusedPerSecond ?? 0),
        failed: before.failed + (rest.failedPerSecond ?? 0),
        inputTokens: before.inputTokens + callsPerSecond * 350,
        serviceMs: before.serviceMs + callsPerSecond * service * 1000,
        gateMs: before.gateMs + (waiting?.gate ?? 0) * 1000,
        allowanceMs: before.allowanceMs + (waiting?.allowance ?? 0) * 1000,
        yieldMs: before.yieldMs + (waiting?.yield ?? 0) * 1000,
        refusedMs: before.refusedMs + (waiting?.refused ?? 0) * 1000,
        processes: rest.processes,
        toldRequests: rest.told ?? before.toldRequests,
      });
    }
  }
  return [...items].map(([at, usage]) => ({ ...usage, at: START + at }));
}

interface Situation {
  readonly input?: Partial<PlanInput>;
  /** Seconds after `START` at which somebody looks. */
  readonly at: number;
  readonly interactive?: readonly Doing[];
  readonly bulk?: readonly Doing[];
  /** Chunks that wait, and those that processes have. */
  readonly queues?: Partial<Record<Mode, readonly [depth: number, inFlight: number]>>;
  readonly state?: object;
  readonly imports?: FleetFacts['imports'];
}

function tell(situation: Situation) {
  const { input, at, interactive = [], bulk = [], queues = {}, state, imports } = situation;
  const plan = planNumbers({ ...INPUT, ...input });
  const now = (START + at) * 1000;
  const usage = { interactive: itemsOf(interactive, at), bulk: itemsOf(bulk, at) };
  const queue = (mode: Mode) => {
    const [depth, inFlight] = queues[mode] ?? [0, 0];
    return { depth, inFlight };
  };
  const { diagnosis } = diagnoseFleet({
    plan,
    measured: measure(usage, plan.lines, now),
    queues: { interactive: queue('interactive'), bulk: queue('bulk') },
    states: [{ line: 'shared', state: { ...NOTHING_KNOWN, ...state } }],
    usage,
    imports,
    now,
  });
  return diagnosis;
}

/** As bulk work does that uses the account: places are taken by rows that wait for it. */
const ACCOUNT: Doing = {
  from: 0,
  callsPerSecond: 83,
  waiting: { gate: 1700, allowance: 23 },
  processes: 9,
};
const BACKLOG = { bulk: [200, 36] } as const;
const running = (mode: Mode, at: number) => ({
  running: [{ mode, startedAt: (START + at) * 1000 }],
  paused: [],
});

test.each<[what: string, code: string, words: RegExp, situation: Situation]>([
  [
    'the account is used, and rows wait for places behind those that wait for it',
    'quota',
    /requests are used: 83 of 83\.3 a second \(100 %\)\. 200 chunks wait for it\./,
    { at: LONG, bulk: [ACCOUNT], queues: BACKLOG },
  ],
  [
    'a bound that is far too small, and an account that idles',
    'ceiling',
    /All processes are full: 17\.6 of 18 calls are in flight, and only 22 of 83\.3 calls/,
    {
      at: LONG,
      input: { bulk: { batchChunks: 4, gate: 2, concurrency: 9 } },
      bulk: [{ ...ACCOUNT, callsPerSecond: 22, waiting: { gate: 1780, allowance: 1 } }],
      queues: BACKLOG,
    },
  ],
  [
    'one process takes all chunks',
    'gate',
    /9\.6 of 10 calls are in flight in 1 of 9 processes/,
    {
      at: LONG,
      bulk: [{ ...ACCOUNT, callsPerSecond: 12, waiting: { gate: 180 }, processes: 1 }],
      queues: { bulk: [0, 4] },
    },
  ],
  [
    'work comes slowly, and workers wait for it',
    'producer',
    /^Nothing waits: .* 2\.4 of 90 calls in flight/,
    {
      at: LONG,
      bulk: [{ ...ACCOUNT, callsPerSecond: 3, waiting: {}, processes: 2 }],
      queues: { bulk: [0, 1] },
    },
  ],
  [
    'somebody else has used the account',
    'refused',
    /The provider refuses 5 of 60 calls a second/,
    { at: LONG, bulk: [{ ...ACCOUNT, callsPerSecond: 60, refusedPerSecond: 5 }], queues: BACKLOG },
  ],
  [
    'the account has become smaller since interactive work heard of it',
    'refused',
    /It is configured for 5,000 requests a minute, and the provider's answers say 3,000\.$/,
    {
      at: LONG,
      interactive: [{ from: 0, to: 100, callsPerSecond: 10, processes: 4, told: 5000 }],
      bulk: [{ ...ACCOUNT, callsPerSecond: 50, refusedPerSecond: 5, told: 3000 }],
      queues: BACKLOG,
    },
  ],
  [
    'bulk work gives way to somebody else',
    'yielding',
    /not Glimpse that uses it\. 50 rows wait for that at a time\. It rests for another 4 s\./,
    {
      at: LONG,
      bulk: [{ ...ACCOUNT, callsPerSecond: 30, waiting: { gate: 1700, yield: 50 } }],
      queues: BACKLOG,
      state: { yieldUntil: (START + LONG + 4) * 1000 },
    },
  ],
  [
    'the provider takes three times as long as planned',
    'slow',
    /^Calls take 2\.4 s, and the plan takes them to take 0\.8 s\. All processes are full/,
    {
      at: LONG,
      bulk: [{ ...ACCOUNT, callsPerSecond: 36, service: 2.4, waiting: { gate: 1700 } }],
      queues: BACKLOG,
    },
  ],
  [
    'the provider fails most calls',
    'failing',
    /The provider fails 20 of 24 calls a second/,
    {
      at: LONG,
      bulk: [
        {
          ...ACCOUNT,
          callsPerSecond: 24,
          failedPerSecond: 20,
          waiting: { gate: 500, refused: 900 },
        },
      ],
      queues: BACKLOG,
    },
  ],
  [
    'somebody watches an import, and bulk work has what that leaves',
    'quota',
    /83 of 83\.3 .* Interactive work comes first, with 40 calls a second; bulk work .* 43\.$/,
    {
      at: LONG,
      interactive: [{ from: 0, callsPerSecond: 40, waiting: { gate: 160 }, processes: 4 }],
      bulk: [{ ...ACCOUNT, callsPerSecond: 43, waiting: { gate: 1700, allowance: 55 } }],
      queues: { interactive: [10, 4], bulk: [200, 36] },
    },
  ],
  [
    'the share of those who watch is kept, while they hardly need it',
    'quota',
    /^Bulk work uses its part of the account: 70 % of 70 %; the rest is kept/,
    {
      at: LONG,
      interactive: [{ from: 0, callsPerSecond: 1, processes: 1 }],
      bulk: [{ ...ACCOUNT, callsPerSecond: 58, waiting: { gate: 1700, allowance: 43 } }],
      queues: { interactive: [0, 1], bulk: [200, 36] },
    },
  ],
  [
    'rows wait for an account that is half used: the fault is in here',
    'inside',
    /^200 chunks wait, but 32 of 90 .* 1,700 at a time, behind rows that wait for the shared allowance, 58/,
    {
      at: LONG,
      bulk: [{ ...ACCOUNT, callsPerSecond: 40, waiting: { gate: 1700, allowance: 58 } }],
      queues: BACKLOG,
    },
  ],
  [
    'an import was paused by somebody',
    'idle',
    /^Nothing waits: the import “Autumn” has yet to be started or resumed\.$/,
    {
      at: LONG,
      bulk: [{ ...ACCOUNT, to: LONG - 40 }],
      imports: { running: [], paused: [{ mode: 'bulk', name: 'Autumn' }] },
    },
  ],
  [
    'an import was started a moment ago, and its processes start',
    'starting',
    /^Work has just begun: what limits it is known in about 19 s\.$/,
    { at: 4, queues: { interactive: [13, 4] }, imports: running('interactive', 2) },
  ],
  [
    'a run that began in the middle of an item is healthy',
    'starting',
    /^Work has just begun: what limits it is known in about 9 s\.$/,
    {
      at: 14,
      interactive: [{ ...ACCOUNT, from: 6, callsPerSecond: 50, processes: 4 }],
      queues: { interactive: [8, 4] },
      imports: running('interactive', 4),
    },
  ],
  [
    'and of its first whole item it is known what limits it',
    'quota',
    /83 of 83\.3/,
    { at: 23, bulk: [{ ...ACCOUNT, from: 6 }], queues: BACKLOG, imports: running('bulk', 4) },
  ],
  [
    'bulk work begins while somebody has watched for long',
    'starting',
    /^Work has just begun/,
    {
      at: LONG,
      interactive: [{ from: 0, callsPerSecond: 2, processes: 1 }],
      bulk: [{ ...ACCOUNT, from: LONG - 6 }],
      queues: { interactive: [0, 1], bulk: [200, 36] },
    },
  ],
  [
    'work was started again after a pause',
    'starting',
    /^Work has just begun/,
    {
      at: LONG,
      bulk: [
        { ...ACCOUNT, to: LONG - 45 },
        { ...ACCOUNT, from: LONG - 8 },
      ],
      queues: BACKLOG,
    },
  ],
  [
    'the last rows are on their way',
    'producer',
    /^Work is done as fast as it comes: what waits, 150 rows, takes 1\.81 s/,
    {
      at: LONG,
      bulk: [{ ...ACCOUNT, callsPerSecond: 83, waiting: { gate: 150 } }],
      queues: { bulk: [0, 4] },
      input: { account: { requestsPerMinute: 10_000, tokensPerMinute: null } },
    },
  ],
  [
    'all is done',
    'idle',
    /^All work is done: nothing waits, and the last calls ended just now\.$/,
    {
      at: LONG,
      interactive: [{ ...ACCOUNT, to: LONG - 6 }],
      imports: { running: [], paused: [] },
    },
  ],
  [
    'no worker takes what waits',
    'inside',
    /^13 chunks wait, but 0 of 40 calls are in flight .* Rows wait for nothing that is measured\.$/,
    { at: 90, queues: { interactive: [13, 0] }, imports: running('interactive', 2) },
  ],
])('%s: %s', (_what, code, words, situation) => {
  const told = tell(situation);
  expect(told?.words).toMatch(words);
  expect(told?.code).toBe(code);
});
