import type { AllowanceSettings, Mode } from '../../shared/fleet/allowance-settings.ts';
import { diagnoseFleet } from '../../shared/fleet/diagnose-fleet.ts';
import type { Diagnosis } from '../../shared/fleet/diagnosis.ts';
import {
  type ByMode,
  lastSpan,
  measure,
  type Rates,
  ratesOf,
  toldBy,
} from '../../shared/fleet/measure.ts';
import type { FleetPlan } from '../../shared/fleet/plan.ts';
import type { Depth } from '../../shared/fleet/queue-depth.ts';
import { readFleet } from '../../shared/fleet/read-fleet.ts';
import { USAGE_SECONDS, type UsageItem } from '../../shared/fleet/usage-item.ts';
import { listImports } from '../../shared/imports/create-import.ts';
import { STOP_CODES } from '../../shared/summaries/verdict.ts';
import type { Service } from './service.ts';

/** Seconds that a series goes back. */
const SERIES_SECONDS = 600;
/** Of the newest imports so many are looked at for one that nobody can go on with. */
const NEWEST = 10;

type ModeView = Omit<Rates, 'waiting'> & { waiting: Rates['waiting']; tokensPerCall?: number };

/** From the oldest to the newest; each step begins `stepSeconds` after the one before. */
interface Series {
  callsPerSecond: number[];
  inFlight: number[];
  tokensPerSecond: number[];
  refusedPerSecond: number[];
  /** Rows that waited for callers that are not Glimpse's. */
  yielding: number[];
}

export interface FleetView {
  plan: FleetPlan;
  measured: {
    /** When the last step ended. What came since is not whole yet. */
    at: string;
    interactive: ModeView;
    bulk: ModeView;
    queues: ByMode<Depth>;
    series: { from: string; stepSeconds: number } & ByMode<Series>;
  };
  lines: {
    line: AllowanceSettings['line'];
    quietUntil?: string;
    yieldUntil?: string;
    cut?: { to: number; at: string };
    diagnosis: Diagnosis;
  }[];
  diagnosis: Diagnosis | undefined;
}

/** The plan, and what is measured now: of DynamoDB two Queries and a GetItem a line, of SQS two counts. */
export async function showFleet(
  service: Pick<Service, 'table' | 'fleet' | 'now'>,
): Promise<FleetView> {
  const { fleet } = service;
  const now = service.now();
  const reading = await readFleet(fleet.table, fleet.queues, fleet.plan.lines, {
    now,
    seconds: SERIES_SECONDS,
  });
  const rates = measure(reading.usage, now);
  const { lines, diagnosis } = diagnoseFleet({
    plan: fleet.plan,
    rates,
    queues: reading.queues,
    states: reading.states,
    told: { interactive: toldBy(reading.usage.interactive), bulk: toldBy(reading.usage.bulk) },
    stopped: await stoppedImport(service, rates),
    now,
  });
  const { from, to } = lastSpan(now, SERIES_SECONDS);
  return {
    plan: fleet.plan,
    measured: {
      at: isoOf(to * 1000),
      interactive: modeView(rates.interactive),
      bulk: modeView(rates.bulk),
      queues: reading.queues,
      series: {
        from: isoOf(from * 1000),
        stepSeconds: USAGE_SECONDS,
        interactive: seriesOf(reading.usage.interactive, { from, to }),
        bulk: seriesOf(reading.usage.bulk, { from, to }),
      },
    },
    lines: lines.map(({ line, state, diagnosis: told }) => ({
      line,
      ...(state.quietUntil > now ? { quietUntil: isoOf(state.quietUntil) } : {}),
      ...(state.yieldUntil > now ? { yieldUntil: isoOf(state.yieldUntil) } : {}),
      ...(state.cut === undefined ? {} : { cut: { to: state.cut.to, at: isoOf(state.cut.at) } }),
      diagnosis: told,
    })),
    diagnosis,
  };
}

/** Looked for only where no call of an account succeeds: whoever makes progress is not stopped. */
async function stoppedImport(
  { table, fleet }: Pick<Service, 'table' | 'fleet'>,
  rates: ByMode<Rates>,
) {
  const succeeds = (mode: Mode) => {
    const { callsPerSecond, refusedPerSecond, failedPerSecond } = rates[mode];
    return callsPerSecond - refusedPerSecond - failedPerSecond > 0;
  };
  if (fleet.plan.lines.every(({ modes }) => modes.some(succeeds))) return undefined;
  const { items } = await listImports(table, { before: undefined, limit: NEWEST });
  const found = items.find(
    ({ state, failure }) => state === 'paused' && STOP_CODES.some((code) => code === failure?.code),
  );
  if (found?.failure === undefined) return undefined;
  return { mode: found.mode, name: found.name, message: found.failure.message };
}

function modeView({ waiting, ...rates }: Rates): ModeView {
  const { callsPerSecond, tokensPerSecond, serviceSeconds, ...rest } = rates;
  return {
    callsPerSecond: rounded(callsPerSecond),
    tokensPerSecond: rounded(tokensPerSecond),
    serviceSeconds: serviceSeconds === undefined ? undefined : rounded(serviceSeconds),
    ...(callsPerSecond === 0 ? {} : { tokensPerCall: rounded(tokensPerSecond / callsPerSecond) }),
    seconds: rest.seconds,
    refusedPerSecond: rounded(rest.refusedPerSecond),
    failedPerSecond: rounded(rest.failedPerSecond),
    inFlight: rounded(rest.inFlight),
    processes: rounded(rest.processes),
    storeOpsPerCall: rounded(rest.storeOpsPerCall),
    waiting: {
      gate: rounded(waiting.gate),
      allowance: rounded(waiting.allowance),
      yield: rounded(waiting.yield),
      refused: rounded(waiting.refused),
    },
  };
}

function seriesOf(usage: readonly UsageItem[], { from, to }: { from: number; to: number }): Series {
  const series: Series = {
    callsPerSecond: [],
    inFlight: [],
    tokensPerSecond: [],
    refusedPerSecond: [],
    yielding: [],
  };
  const items = new Map(usage.map((item) => [item.at, item]));
  for (let at = from; at < to; at += USAGE_SECONDS) {
    const item = items.get(at);
    const step = ratesOf(item === undefined ? [] : [item], { from: at, to: at + USAGE_SECONDS });
    series.callsPerSecond.push(rounded(step.callsPerSecond));
    series.inFlight.push(rounded(step.inFlight));
    series.tokensPerSecond.push(rounded(step.tokensPerSecond));
    series.refusedPerSecond.push(rounded(step.refusedPerSecond));
    series.yielding.push(rounded(step.waiting.yield));
  }
  return series;
}

/** A thousandth is more than anybody reads. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

const isoOf = (ms: number) => new Date(ms).toISOString();
