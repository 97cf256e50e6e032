import { mayHandle } from '../../shared/access/caller.ts';
import type { AllowanceSettings, Mode } from '../../shared/fleet/allowance-settings.ts';
import { diagnoseFleet, type FleetImports } from '../../shared/fleet/diagnose-fleet.ts';
import type { Diagnosis } from '../../shared/fleet/diagnosis.ts';
import {
  type ByMode,
  lastSpan,
  type Measured,
  measure,
  type Rates,
  ratesOf,
} from '../../shared/fleet/measure.ts';
import type { FleetPlan } from '../../shared/fleet/plan.ts';
import type { Depth } from '../../shared/fleet/queue-depth.ts';
import { type FleetReading, readFleet } from '../../shared/fleet/read-fleet.ts';
import { USAGE_SECONDS, type UsageItem } from '../../shared/fleet/usage-item.ts';
import { activeImports, listImports } from '../../shared/imports/create-import.ts';
import type { ImportItem } from '../../shared/imports/import-item.ts';
import { readImport } from '../../shared/imports/imports-table.ts';
import { STOP_CODES } from '../../shared/summaries/verdict.ts';
import type { Service } from './service.ts';

/** Seconds that a series goes back. */
const SERIES_SECONDS = 600;
/** Of the newest imports so many are looked at, for what they wait for. */
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
  service: Pick<Service, 'caller' | 'table' | 'fleet' | 'now'>,
): Promise<FleetView> {
  const { fleet } = service;
  const now = service.now();
  const reading = await readFleet(fleet.table, fleet.queues, fleet.plan.lines, {
    now,
    seconds: SERIES_SECONDS,
  });
  const measured = measure(reading.usage, fleet.plan.lines, now);
  const { rates } = measured;
  const { lines, diagnosis } = diagnoseFleet({
    plan: fleet.plan,
    measured,
    queues: reading.queues,
    states: reading.states,
    usage: reading.usage,
    imports: isEvident(fleet.plan, reading, measured, now)
      ? undefined
      : await lookAtImports(service),
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

/** Whether calls and queues say enough: each account is worked with, and has more to do. */
function isEvident(
  { lines }: FleetPlan,
  { queues }: FleetReading,
  { lately, runs }: Measured,
  now: number,
): boolean {
  const since = lastSpan(now).to;
  const isQueued = (mode: Mode) => queues[mode].depth + queues[mode].inFlight > 0;
  const isSeen = (mode: Mode) => (runs[mode]?.ended ?? 0) >= since;
  const succeeds = ({ callsPerSecond, refusedPerSecond, failedPerSecond }: Rates) =>
    callsPerSecond - refusedPerSecond - failedPerSecond > 0;
  return lines.every(
    ({ modes }) =>
      modes.some((mode) => succeeds(lately[mode])) &&
      modes.some(isQueued) &&
      modes.every((mode) => !isQueued(mode) || isSeen(mode)),
  );
}

/** Others that are not over, however old. */
async function activeBut(
  known: readonly ImportItem[],
  table: Service['table'],
): Promise<ImportItem[]> {
  const found: ImportItem[] = [];
  let looked = 0;
  for await (const importId of activeImports(table)) {
    if (known.some((item) => item.importId === importId)) continue;
    if (++looked > NEWEST) break;
    const item = await readImport(table, importId);
    if (item !== undefined) found.push(item);
  }
  return found;
}

async function lookAtImports({
  caller,
  table,
  fleet,
}: Pick<Service, 'caller' | 'table' | 'fleet'>): Promise<FleetImports> {
  const { items: newest } = await listImports(table, { before: undefined, limit: NEWEST });
  const items = [...newest, ...(await activeBut(newest, table))];
  const paused = items.filter(({ state }) => state === 'paused');
  // That somebody's import is paused is everybody's to know, and what it is called is not.
  const nameFor = (item: ImportItem) => (mayHandle(caller, item) ? item.name : undefined);
  const lineOf = (mode: Mode) => fleet.plan.lines.find(({ modes }) => modes.includes(mode));
  // Where another was begun or completed since, calls may succeed again.
  const stopped = paused.find(
    ({ failure, mode, updatedAt }) =>
      STOP_CODES.some((code) => code === failure?.code) &&
      !items.some(
        (other) =>
          lineOf(other.mode) === lineOf(mode) &&
          (other.state === 'running' || other.state === 'completed') &&
          Math.max(other.startedAt ?? 0, other.completedAt ?? 0) > updatedAt,
      ),
  );
  return {
    running: items.flatMap(({ state, mode, startedAt }) =>
      state === 'running' && startedAt !== undefined ? [{ mode, startedAt }] : [],
    ),
    paused: paused.map((item) => ({ mode: item.mode, name: nameFor(item) })),
    stopped: stopped && {
      mode: stopped.mode,
      name: nameFor(stopped),
      message: stopped.failure?.message ?? '',
    },
  };
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
