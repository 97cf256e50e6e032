import type { Mode } from './allowance-settings.ts';
import {
  LATE_SECONDS,
  NO_USAGE,
  sumOf,
  type ToldAccount,
  USAGE_SECONDS,
  type UsageItem,
} from './usage-item.ts';

// What the fleet does, from what its processes have added up in items of ten seconds. An item is whole
// shortly after its time is over; the first of a run is not, since the run began in the middle of it.

/** Means over a time. */
export interface Rates {
  /** What they are the means of; 0 where nothing was done. */
  readonly seconds: number;
  /** Answers and errors; a call that was refused has spent a request too. */
  readonly callsPerSecond: number;
  readonly refusedPerSecond: number;
  readonly failedPerSecond: number;
  /** Input and output. */
  readonly tokensPerSecond: number;
  /** Calls in flight at once: throughput × service time. */
  readonly inFlight: number;
  /** From a call's start to its end; undefined without calls. */
  readonly serviceSeconds: number | undefined;
  /** Rows that waited at once, by what for. */
  readonly waiting: Readonly<Record<Wait, number>>;
  readonly processes: number;
  /** Calls of the shared state for each of the provider. */
  readonly storeOpsPerCall: number;
}

export const WAITS = ['gate', 'allowance', 'yield', 'refused'] as const;
export type Wait = (typeof WAITS)[number];

export type ByMode<T> = Readonly<Record<Mode, T>>;

/** Seconds that means are taken over: so many that they say something, so few that they are of now. */
const MEASURED_SECONDS = 60;

/** Epoch seconds, a whole number of items: from the first, up to but without the second. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The last whole items of so many seconds. @param now epoch milliseconds */
export function lastSpan(now: number, seconds = MEASURED_SECONDS): Span {
  const to = itemAt(now / 1000 - LATE_SECONDS);
  return { from: to - seconds, to };
}

/** When the item of that time begins. Epoch seconds. */
function itemAt(seconds: number): number {
  return Math.floor(seconds / USAGE_SECONDS) * USAGE_SECONDS;
}

/** Calls without a pause, by the items that have some. Epoch seconds: an item's begin, and an item's end. */
export interface Run {
  readonly began: number;
  readonly ended: number;
}

/** Seconds without a call that are a pause: less is a queue that was empty for a moment. */
const PAUSE_SECONDS = 20;
/** An account that lets few calls through has seconds without any. */
const PAUSE_CALLS = 10;

export interface Measured {
  /** Means of the last minute, or of the part of it in which the account has been in use. */
  readonly rates: ByMode<Rates>;
  /** The same of the last item alone. */
  readonly lately: ByMode<Rates>;
  /** The last run of each mode, within what was read. */
  readonly runs: ByMode<Run | undefined>;
}

/**
 * What of a minute was before a run, and the run's first item, would make it seem slow: they are left
 * out. A run without a whole item has no figures: its rates are of 0 seconds.
 *
 * @param usage from before the last minute up to now
 * @param lines the modes that spend an account together: what one does is a part of what both do
 * @param now epoch milliseconds
 */
export function measure(
  usage: ByMode<readonly UsageItem[]>,
  lines: readonly { readonly modes: readonly Mode[]; readonly callsPerSecond: number }[],
  now: number,
): Measured {
  const minute = lastSpan(now);
  const last = { from: minute.to - USAGE_SECONDS, to: minute.to };
  const about = (mode: Mode) => {
    const { modes, callsPerSecond } = lines.find((line) => line.modes.includes(mode)) ?? ALONE;
    const pause = Math.max(PAUSE_SECONDS, PAUSE_CALLS / callsPerSecond);
    const run = lastRun(
      modes.flatMap((each) => usage[each]),
      pause,
    );
    const span = { from: beginOf(run, minute, pause), to: minute.to };
    return {
      rates: ratesOf(usage[mode], span),
      lately: ratesOf(usage[mode], last),
      run: lastRun(usage[mode], pause),
    };
  };
  const [interactive, bulk] = [about('interactive'), about('bulk')];
  return {
    rates: { interactive: interactive.rates, bulk: bulk.rates },
    lately: { interactive: interactive.lately, bulk: bulk.lately },
    runs: { interactive: interactive.run, bulk: bulk.run },
  };
}

/** A mode that no line has. */
const ALONE = { modes: [], callsPerSecond: Number.POSITIVE_INFINITY };

function lastRun(items: readonly UsageItem[], pauseSeconds: number): Run | undefined {
  const times = items
    .filter(({ calls }) => calls > 0)
    .map(({ at }) => at)
    .toSorted((one, other) => other - one);
  const [latest] = times;
  if (latest === undefined) return undefined;
  let began = latest;
  for (const at of times) {
    if (began - at > pauseSeconds) break;
    began = at;
  }
  return { began, ended: latest + USAGE_SECONDS };
}

function beginOf(run: Run | undefined, { from, to }: Span, pauseSeconds: number): number {
  if (run === undefined) return from;
  // What is over is no longer what is measured now.
  const isOver = to - run.ended >= pauseSeconds;
  return Math.min(to, Math.max(from, isOver ? run.ended : run.began + USAGE_SECONDS));
}

/** When there are figures of what began then. Epoch seconds in, epoch milliseconds out. */
export function figuresAt(began: number): number {
  return (itemAt(began) + 2 * USAGE_SECONDS + LATE_SECONDS) * 1000;
}

export function ratesOf(items: readonly UsageItem[], { from, to }: Span): Rates {
  const within = items.filter(({ at }) => at >= from && at < to);
  const all = within.reduce(sumOf, NO_USAGE);
  const seconds = Math.max(0, to - from);
  const perSecond = (amount: number) => (seconds === 0 ? 0 : amount / seconds);
  return {
    seconds,
    callsPerSecond: perSecond(all.calls),
    refusedPerSecond: perSecond(all.refused),
    failedPerSecond: perSecond(all.failed),
    tokensPerSecond: perSecond(all.inputTokens + all.outputTokens),
    inFlight: perSecond(all.serviceMs / 1000),
    serviceSeconds: all.calls === 0 ? undefined : all.serviceMs / 1000 / all.calls,
    waiting: {
      gate: perSecond(all.gateMs / 1000),
      allowance: perSecond(all.allowanceMs / 1000),
      yield: perSecond(all.yieldMs / 1000),
      refused: perSecond(all.refusedMs / 1000),
    },
    // Each item counts each process once.
    processes: perSecond(all.processes * USAGE_SECONDS),
    storeOpsPerCall: all.calls === 0 ? 0 : all.storeOps / all.calls,
  };
}

/** Of two modes that spend one account. */
export function together(rates: readonly Rates[]): Rates {
  const add = (of: (each: Rates) => number) => rates.reduce((all, each) => all + of(each), 0);
  const callsPerSecond = add((each) => each.callsPerSecond);
  const inFlight = add((each) => each.inFlight);
  const storeOps = add((each) => each.storeOpsPerCall * each.callsPerSecond);
  return {
    seconds: Math.max(0, ...rates.map(({ seconds }) => seconds)),
    callsPerSecond,
    refusedPerSecond: add((each) => each.refusedPerSecond),
    failedPerSecond: add((each) => each.failedPerSecond),
    tokensPerSecond: add((each) => each.tokensPerSecond),
    inFlight,
    serviceSeconds: callsPerSecond === 0 ? undefined : inFlight / callsPerSecond,
    waiting: {
      gate: add(({ waiting }) => waiting.gate),
      allowance: add(({ waiting }) => waiting.allowance),
      yield: add(({ waiting }) => waiting.yield),
      refused: add(({ waiting }) => waiting.refused),
    },
    processes: add((each) => each.processes),
    storeOpsPerCall: callsPerSecond === 0 ? 0 : storeOps / callsPerSecond,
  };
}

/** What the provider last said that the account lets through, by the latest item that tells. */
export function toldBy(items: readonly UsageItem[]): ToldAccount {
  const latest = (read: (item: UsageItem) => number | undefined) =>
    items
      .filter((item) => read(item) !== undefined)
      .toSorted((one, other) => other.at - one.at)
      .map(read)[0];
  return {
    requests: latest(({ toldRequests }) => toldRequests),
    tokens: latest(({ toldTokens }) => toldTokens),
  };
}
