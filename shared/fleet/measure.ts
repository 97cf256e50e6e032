import type { Mode } from './allowance-settings.ts';
import { NO_USAGE, sumOf, type ToldAccount, USAGE_SECONDS, type UsageItem } from './usage-item.ts';

// What the fleet does, from what its processes have added up. A process adds what it did in the last
// seconds to the item of the time at which it adds, so an item is whole once its time is over.

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
  const to = Math.floor(now / 1000 / USAGE_SECONDS) * USAGE_SECONDS;
  return { from: to - seconds, to };
}

/** From the first item with something in it, or what has just begun would seem slow. */
export function measure(usage: ByMode<readonly UsageItem[]>, now: number): ByMode<Rates> {
  const { from, to } = lastSpan(now);
  const begun = [...usage.interactive, ...usage.bulk]
    .filter(({ at, ...did }) => at >= from && at < to && did.calls > 0)
    .map(({ at }) => at);
  const span = { from: Math.min(to, ...begun), to };
  return { interactive: ratesOf(usage.interactive, span), bulk: ratesOf(usage.bulk, span) };
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
