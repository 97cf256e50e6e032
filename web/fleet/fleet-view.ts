import { fields, list, number, optional, text } from '../shell/read-json.ts';

// The fleet as `GET /fleet` answers it, as far as the page shows it.

export const MODES = ['interactive', 'bulk'] as const;
export type Mode = (typeof MODES)[number];
type ByMode<T> = Readonly<Record<Mode, T>>;

export interface FleetView {
  readonly plan: Plan;
  readonly measured: ByMode<Rates> & {
    /** Epoch milliseconds. */
    readonly at: number;
    readonly queues: ByMode<{ readonly depth: number; readonly inFlight: number }>;
    readonly series: Series;
  };
  readonly lines: readonly LineView[];
  readonly diagnosis: Diagnosis;
}

interface Plan {
  readonly fleetBound: number;
  /** Of all accounts together; tokens only where each counts them. */
  readonly allowed: { readonly callsPerSecond: number; readonly tokensPerSecond?: number };
  readonly modes: ByMode<{
    readonly gate: number;
    readonly processes: number;
    /** Chunks that a process takes at once. */
    readonly batchChunks: number;
  }>;
  readonly figures: readonly Figure[];
  /** Relations that do not hold, or that somebody should know of. */
  readonly findings: readonly { readonly name: string; readonly says: string }[];
}

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly reason: string;
}

const RATES = [
  /** That they are the means of: 0 where nothing is known yet. */
  'seconds',
  'callsPerSecond',
  'inFlight',
  'tokensPerSecond',
  'refusedPerSecond',
  'failedPerSecond',
  'processes',
  'storeOpsPerCall',
] as const;
const WAITS = ['gate', 'allowance', 'yield', 'refused'] as const;
export type Wait = (typeof WAITS)[number];

export type Rates = Readonly<Record<(typeof RATES)[number], number>> & {
  readonly serviceSeconds?: number;
  readonly tokensPerCall?: number;
  /** Rows at a time. */
  readonly waiting: Readonly<Record<Wait, number>>;
};

const SERIES = [
  'callsPerSecond',
  'inFlight',
  'tokensPerSecond',
  'refusedPerSecond',
  'yielding',
] as const;
export type SeriesName = (typeof SERIES)[number];

export interface Series extends ByMode<Readonly<Record<SeriesName, readonly number[]>>> {
  /** Epoch seconds at which each step ends. */
  readonly times: readonly number[];
}

const CODES = [
  'stopped',
  'refused',
  'failing',
  'inside',
  'yielding',
  'gate',
  'slow',
  'ceiling',
  'quota',
  'starting',
  'producer',
  'idle',
] as const;
export type DiagnosisCode = (typeof CODES)[number];

export interface Diagnosis {
  readonly code: DiagnosisCode;
  readonly words: string;
  readonly help: readonly string[];
}

export interface LineView {
  readonly line: string;
  readonly quietUntil?: number;
  readonly yieldUntil?: number;
  readonly cut?: { readonly to: number; readonly at: number };
  readonly diagnosis: Diagnosis;
}

export function readFleet(answer: Record<string, unknown>): FleetView {
  const measured = fields(answer.measured);
  return {
    plan: readPlan(fields(answer.plan)),
    measured: {
      at: time(measured.at),
      interactive: readRates(fields(measured.interactive)),
      bulk: readRates(fields(measured.bulk)),
      queues: byMode(measured.queues, ({ depth, inFlight }) => ({
        depth: number(depth),
        inFlight: number(inFlight),
      })),
      series: readSeries(fields(measured.series)),
    },
    lines: list(answer.lines).map((line) => readLine(fields(line))),
    diagnosis: readDiagnosis(answer.diagnosis),
  };
}

/** Seconds that the figures are the means of: 0 before there are any. */
export function measuredSeconds({ measured }: FleetView): number {
  return Math.max(...MODES.map((mode) => measured[mode].seconds));
}

/** Chunks that all processes take at once, at most: what is more waits. */
export function mostChunks({ modes }: Plan, of: readonly Mode[] = MODES): number {
  return sum(of.map((mode) => modes[mode].processes * modes[mode].batchChunks));
}

/** Whether anything was called in the time that the series goes back. */
export function wasUsed({ measured: { series } }: FleetView): boolean {
  return MODES.some((mode) => series[mode].callsPerSecond.some((calls) => calls > 0));
}

function readPlan(plan: Record<string, unknown>): Plan {
  const accounts = list(plan.lines).map((line) => {
    const { callsPerSecond, account } = fields(line);
    const tokens = optional(fields(account).tokensPerMinute, number);
    return { calls: number(callsPerSecond), tokens };
  });
  const tokens = accounts.map((account) => account.tokens).filter((each) => each !== undefined);
  return {
    fleetBound: number(plan.fleetBound),
    allowed: {
      callsPerSecond: sum(accounts.map(({ calls }) => calls)),
      ...(tokens.length < accounts.length ? {} : { tokensPerSecond: sum(tokens) / 60 }),
    },
    modes: byMode(plan, ({ gate, processes, batchChunks }) => ({
      gate: number(gate),
      processes: number(processes),
      batchChunks: number(batchChunks),
    })),
    figures: list(plan.figures).map((figure) => {
      const { name, value, unit, reason } = fields(figure);
      return { name: text(name), value: number(value), unit: text(unit), reason: text(reason) };
    }),
    findings: list(plan.checks)
      .map(fields)
      .filter(({ state }) => state !== 'ok')
      .map(({ name, says }) => ({ name: text(name), says: text(says) })),
  };
}

function readRates(rates: Record<string, unknown>): Rates {
  const service = optional(rates.serviceSeconds, number);
  const tokens = optional(rates.tokensPerCall, number);
  return {
    ...record(RATES, (name) => number(rates[name])),
    waiting: record(WAITS, (wait) => number(fields(rates.waiting)[wait])),
    ...(service === undefined ? {} : { serviceSeconds: service }),
    ...(tokens === undefined ? {} : { tokensPerCall: tokens }),
  };
}

function readSeries(series: Record<string, unknown>): Series {
  const from = time(series.from) / 1000;
  const step = number(series.stepSeconds);
  const values = byMode(series, (of) => record(SERIES, (name) => list(of[name]).map(number)));
  return {
    ...values,
    times: values.bulk.callsPerSecond.map((_, index) => from + (index + 1) * step),
  };
}

function readLine(told: Record<string, unknown>): LineView {
  const quietUntil = optional(told.quietUntil, time);
  const yieldUntil = optional(told.yieldUntil, time);
  const cut = optional(told.cut, (value) => {
    const { to, at } = fields(value);
    return { to: number(to), at: time(at) };
  });
  return {
    line: text(told.line),
    ...(quietUntil === undefined ? {} : { quietUntil }),
    ...(yieldUntil === undefined ? {} : { yieldUntil }),
    ...(cut === undefined ? {} : { cut }),
    diagnosis: readDiagnosis(told.diagnosis),
  };
}

function readDiagnosis(told: unknown): Diagnosis {
  const { code, words, help } = fields(told);
  const known = CODES.find((each) => each === code);
  if (known === undefined) throw new TypeError('expected a diagnosis');
  return { code: known, words: text(words), help: list(help).map(text) };
}

function time(value: unknown): number {
  const at = Date.parse(text(value));
  if (Number.isNaN(at)) throw new TypeError('expected a time');
  return at;
}

function byMode<T>(value: unknown, read: (of: Record<string, unknown>) => T): ByMode<T> {
  const { interactive, bulk } = fields(value);
  return { interactive: read(fields(interactive)), bulk: read(fields(bulk)) };
}

function record<K extends string, T>(names: readonly K[], read: (name: K) => T): Record<K, T>;
function record<T>(names: readonly string[], read: (name: string) => T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, read(name)]));
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
