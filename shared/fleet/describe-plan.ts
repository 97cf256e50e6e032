import type { Mode } from './allowance-settings.ts';
import { CALLS_A_BLOCK, type LinePlan, MODES, type Numbers, PREFERRED_GATE } from './numbers.ts';
import type { PlanInput } from './plan-input.ts';

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly reason: string;
}

const format = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

/** Up to two digits after the point. */
export function amount(value: number): string {
  return format.format(value);
}

/** The numbers of a plan, each with its reason, in the order in which they follow from each other. */
export function describePlan(plan: Numbers, input: PlanInput): Figure[] {
  return [
    ...plan.lines.flatMap((line) => describeLine(line, input)),
    ...MODES.flatMap((mode) => describeMode(mode, plan, input)),
  ];
}

function describeLine(line: LinePlan, { headroom }: PlanInput): Figure[] {
  const { measured, callsPerSecond, needed, bound, processes, modes, allowance } = line;
  const named = (name: string) => (line.line === 'shared' ? name : `${line.line} ${name}`);
  const least = 2 * modes.length;
  return [
    {
      name: named('rate'),
      value: callsPerSecond,
      unit: 'calls/s',
      reason: rateReason(line),
    },
    {
      name: named('fleet bound'),
      value: bound,
      unit: 'in flight',
      reason:
        needed * headroom > least
          ? `${amount(callsPerSecond)} calls/s × ${amount(measured.serviceSeconds)} s a call are ${amount(needed)} in flight, × ${amount(headroom)} for calls that take longer`
          : `two processes a mode with one call each: the account needs no more than ${amount(needed)} in flight`,
    },
    {
      name: named('frame'),
      value: allowance.frameSeconds,
      unit: 's',
      reason: `a process takes its calls of a frame at once: ${blockOf(line)} each if all ${processes} work, of ${CALLS_A_BLOCK} wanted, so ${amount(processes / (callsPerSecond * allowance.frameSeconds))} calls of the table a call of the model; a call that comes when a frame is taken waits for the next, ${allowance.frameSeconds} s at most`,
    },
  ];
}

function rateReason({ account, measured, decidedBy }: LinePlan): string {
  const { requestsPerMinute, tokensPerMinute } = account;
  if (tokensPerMinute === null) return `${amount(requestsPerMinute)} requests a minute`;
  const byTokens = `${amount(tokensPerMinute)} tokens a minute ÷ ${amount(measured.tokensPerCall)} a call are ${amount(tokensPerMinute / measured.tokensPerCall)} calls`;
  return decidedBy === 'tokens'
    ? `${byTokens}, fewer than the ${amount(requestsPerMinute)} requests a minute`
    : `${amount(requestsPerMinute)} requests a minute; tokens let no fewer through: ${byTokens}`;
}

function blockOf({ callsPerSecond, allowance, processes }: LinePlan): string {
  return amount((callsPerSecond * allowance.frameSeconds) / processes);
}

function describeMode(mode: Mode, plan: Numbers, input: PlanInput): Figure[] {
  const { bound, gate, processes, connections, batchRows, batchSeconds, ...own } = plan[mode];
  const { concurrency, gate: wished, own: partition } = input[mode];
  const configured = (value: unknown, reason: string) =>
    value === undefined ? reason : `as configured: summaries.${mode}`;
  return [
    {
      name: `${mode} bound`,
      value: bound,
      unit: 'in flight',
      reason: boundReason(mode, plan, input),
    },
    {
      name: `${mode} processes`,
      value: processes,
      unit: 'at once',
      reason: `${configured(concurrency, `${bound} in flight ÷ ${wished ?? Math.min(PREFERRED_GATE, batchRows)} each, no fewer than two`)}; reserved concurrency, and the maximum of the mapping`,
    },
    {
      name: `${mode} gate`,
      value: gate,
      unit: 'in flight each',
      reason: configured(
        wished,
        `${bound} ÷ ${processes} processes; a process that is killed has so many calls paid for again`,
      ),
    },
    {
      name: `${mode} connections`,
      value: connections,
      unit: 'each',
      reason: 'the gate: fewer would be a second, hidden gate',
    },
    {
      name: `${mode} batch`,
      value: batchRows,
      unit: 'rows',
      reason: `${own.batchChunks} × ${input.chunkRows} rows, ${amount(batchSeconds)} s through the gate at ${amount((partition?.measured ?? input.measured).serviceSeconds)} s a call`,
    },
    {
      name: `${mode} visibility`,
      value: own.visibilitySeconds,
      unit: 's',
      reason: `6 × ${input.workerTimeoutSeconds} s of the worker's timeout`,
    },
  ];
}

function boundReason(mode: Mode, plan: Numbers, input: PlanInput): string {
  const { concurrency, gate } = input[mode];
  if (plan.lines.length > 1) return 'an account of its own';
  if (concurrency !== undefined && gate !== undefined) {
    return `as configured: ${concurrency} × ${gate}`;
  }
  return mode === 'bulk'
    ? `what ${plan.interactive.bound} of interactive leave of ${plan.fleetBound}, two at least`
    : `${amount(input.interactiveShare * 100)} % of ${plan.fleetBound}, two at least, and no more than bulk leaves`;
}
