import type { Mode } from './allowance-settings.ts';
import { amount } from './describe-plan.ts';
import {
  fewest,
  type LinePlan,
  lineOf,
  MODES,
  type ModePlan,
  type Numbers,
  planNumbers,
} from './numbers.ts';
import type { PlanInput } from './plan-input.ts';

/** A relation between the numbers, and whether it holds. */
export interface Check {
  readonly name: string;
  /** An error is refused at synth; a note is something to know. */
  readonly state: 'ok' | 'note' | 'error';
  /** One sentence without its full stop: what is, or what was expected, what came and what to change. */
  readonly says: string;
  /** Which value of the configuration to look at. */
  readonly path: string;
}

/** So much of the account's concurrency AWS keeps from being reserved. */
const KEPT_UNRESERVED = 100;
/** SQS's longest. */
const LONGEST_VISIBILITY = 43_200;
const LARGEST_HEADROOM = 10;
/** Seconds for a first call that somebody who watches takes for none. */
const LONG_FRAME = 8;
/**
 * Calls in flight that use all of an account, of those that would do if all took as long as on average.
 * Measured: with as many 93 % of it are used, with 1.2 times 94 to 96 %, with 1.6 times 99 %.
 */
const ROOM = 1.25;

export function checkPlan(plan: Numbers, input: PlanInput): Check[] {
  return [
    ...plan.lines.flatMap((line) => [
      checkBound(line, plan, input),
      checkUse(line, input),
      checkLargest(line, input),
      checkService(line, input),
      checkFrame(line, input),
    ]),
    ...plan.lines
      .filter(({ line }) => line === 'shared')
      .map((line) => checkBulk(line, plan, input)),
    ...MODES.flatMap((mode) => [
      checkBatch(mode, plan[mode], input),
      checkPace(mode, plan, input),
      checkGate(mode, plan[mode]),
      checkVisibility(mode, plan[mode], input),
    ]),
    checkCall(input),
    checkConcurrency(plan, input),
  ];
}

const summaries = (...path: string[]) => ['summaries', ...path].join('.');

/** Where a line's account is configured. */
function accountPath({ line }: LinePlan, input: PlanInput, ...path: string[]): string {
  return line !== 'shared' && input[line].own !== undefined
    ? summaries(line, 'provider', ...path)
    : summaries(...path);
}

/** F1. The plan keeps to it by itself: what can break it is a configured number. */
function checkBound(line: LinePlan, plan: Numbers, input: PlanInput): Check {
  const { bound, inFlight, needed, modes } = line;
  const name = `${line.line}: calls in flight stay below the fleet bound`;
  const product = modes.map((mode) => `${plan[mode].processes} × ${plan[mode].gate}`).join(' + ');
  const of = (key: 'concurrency' | 'gate') => modes.find((mode) => input[mode][key] !== undefined);
  const mode = of('gate') ?? of('concurrency') ?? modes[0] ?? 'bulk';
  const path = summaries(mode, input[mode].gate === undefined ? 'concurrency' : 'gate');
  if (inFlight <= bound) {
    return { name, state: 'ok', says: `${product} are ${inFlight} of ${bound}`, path };
  }
  const headroom = Math.ceil((inFlight / needed) * 100) / 100;
  const remedy =
    headroom <= LARGEST_HEADROOM
      ? `lower it, or raise summaries.headroom to ${amount(headroom)} if a sweep has shown that so many complete more`
      : 'lower it: the account lets far less through';
  return {
    name,
    state: 'error',
    says: `expected at most ${bound} calls in flight on the ${line.line} account (processes × gate), got ${product}: ${remedy}`,
    path,
  };
}

/** Whether the fleet can use all that the account lets through. */
function checkUse(line: LinePlan, { headroom }: PlanInput): Check {
  const { inFlight, needed, callsPerSecond, measured } = line;
  const name = `${line.line}: the fleet can use all of the account`;
  const path = summaries('headroom');
  const reached = inFlight / measured.serviceSeconds;
  if (inFlight >= needed) {
    return {
      name,
      state: 'ok',
      says: `${inFlight} in flight at ${amount(measured.serviceSeconds)} s are ${amount(reached)} calls/s, of which the account lets ${amount(callsPerSecond)} through`,
      path,
    };
  }
  return {
    name,
    state: 'note',
    says: `expected ${Math.ceil(needed)} calls in flight or more, to use all ${amount(callsPerSecond)} calls/s, got ${inFlight}, which are ${amount(reached)}: the ceiling is the limit until summaries.headroom (${amount(headroom)}), concurrency or gate is larger`,
    path,
  };
}

/**
 * Interactive work keeps its part also while there is none: bulk alone should be enough. A place for
 * each call that takes as long as on average is not: the account's lanes come to processes, and what
 * comes to one whose gate is full is lost.
 */
function checkBulk(line: LinePlan, { bulk }: Numbers, input: PlanInput): Check {
  const { needed, callsPerSecond } = line;
  const name = 'bulk: alone it can use all of the account';
  const path = summaries('headroom');
  const inFlight = inFlightOf(bulk);
  const times = amount(inFlight / needed);
  if (inFlight >= needed * ROOM) {
    return {
      name,
      state: 'ok',
      says: `${inFlight} in flight are ${times} times the ${amount(needed)} that ${amount(callsPerSecond)} calls/s take on average`,
      path,
    };
  }
  return {
    name,
    state: 'note',
    says: `expected ${Math.ceil(needed * ROOM)} calls in flight or more, ${amount(ROOM)} times the ${amount(needed)} that ${amount(callsPerSecond)} calls/s take on average, because a slot of the account that meets a full gate is lost, got ${inFlight}: ${moreBulk(line, input)}`,
    path,
  };
}

function inFlightOf({ processes, gate }: ModePlan): number {
  return processes * gate;
}

function moreBulk({ needed }: LinePlan, input: PlanInput): string {
  const { concurrency, gate } = input.bulk;
  if (concurrency !== undefined || gate !== undefined) {
    return 'raise summaries.bulk.concurrency or gate';
  }
  const lower = 'lower summaries.interactiveShare';
  // Whole processes with whole gates leave some of a bound over, so the first guess may not be enough.
  const first = Math.ceil((ROOM / (1 - input.interactiveShare)) * 100);
  for (let hundredths = first; hundredths <= LARGEST_HEADROOM * 100; hundredths += 1) {
    const headroom = hundredths / 100;
    if (inFlightOf(planNumbers({ ...input, headroom }).bulk) >= needed * ROOM) {
      return `raise summaries.headroom to ${amount(headroom)}, or ${lower}`;
    }
  }
  return lower;
}

/** A call that is larger than a second's tokens borrows; one that is larger than a minute's never passes. */
function checkLargest(line: LinePlan, input: PlanInput): Check {
  const { account, measured } = line;
  const { tokensPerMinute } = account;
  const { largestCallTokens } = input;
  const name = `${line.line}: calls fit the account's tokens`;
  const path = accountPath(line, input, 'account', 'tokensPerMinute');
  if (tokensPerMinute === null) {
    return { name, state: 'ok', says: 'the account counts no tokens', path };
  }
  if (measured.tokensPerCall > tokensPerMinute) {
    return {
      name,
      state: 'error',
      says: `expected at least the tokens of one call (${amount(measured.tokensPerCall)}), got ${tokensPerMinute}: no call would be let through`,
      path,
    };
  }
  if (largestCallTokens > tokensPerMinute) {
    return {
      name,
      state: 'note',
      says: `the largest call may have ${amount(largestCallTokens)} tokens, more than the ${amount(tokensPerMinute)} of a minute: the provider would refuse it for ever, so lower summaries.prompt.maxInputCharacters`,
      path: summaries('prompt', 'maxInputCharacters'),
    };
  }
  const seconds = largestCallTokens / (tokensPerMinute / 60);
  return {
    name,
    state: 'ok',
    says: `the largest, ${amount(largestCallTokens)} tokens, is ${amount(seconds)} seconds' worth${seconds > 1 ? ', which it borrows' : ''}`,
    path,
  };
}

function checkService(line: LinePlan, input: PlanInput): Check {
  const { serviceSeconds } = line.measured;
  const { callTimeoutSeconds } = input;
  const name = `${line.line}: calls end before they are given up`;
  const path = accountPath(line, input, 'measured', 'serviceSeconds');
  const says = `on average after ${amount(serviceSeconds)} s, given up after ${callTimeoutSeconds} s`;
  if (serviceSeconds >= callTimeoutSeconds) {
    return {
      name,
      state: 'error',
      says: `expected less than callTimeoutSeconds (${callTimeoutSeconds}), got ${amount(serviceSeconds)}: raise summaries.callTimeoutSeconds, or most calls are paid for and given up`,
      path,
    };
  }
  return serviceSeconds * 2 > callTimeoutSeconds
    ? { name, state: 'note', says: `${says}: those that take twice as long are lost`, path }
    : { name, state: 'ok', says, path };
}

/** A small account is taken for many seconds at once, or the table would hear more than the model. */
function checkFrame(line: LinePlan, input: PlanInput): Check {
  const { allowance, modes, processes } = line;
  const { frameSeconds } = allowance;
  const name = `${line.line}: who begins soon has a first call`;
  const path = accountPath(line, input, 'account', 'requestsPerMinute');
  const says = `an import that begins while others have all of the account waits for the next frame, up to ${frameSeconds} s`;
  if (frameSeconds < LONG_FRAME) return { name, state: 'ok', says, path };
  const isFewest = processes <= fewest(modes);
  return {
    name,
    state: 'note',
    says: `${says}, for its first call: ${isFewest ? 'so it is with a small account' : 'fewer workers with wider gates (summaries.bulk.gate) make frames shorter'}`,
    path,
  };
}

/** The first of a chunk's two clocks: its invocation ends well inside the timeout. */
function checkBatch(
  mode: Mode,
  { batchRows, batchSeconds, gate, batchChunks }: ModePlan,
  input: PlanInput,
): Check {
  const { chunkRows, workerTimeoutSeconds } = input;
  const { serviceSeconds } = input[mode].own?.measured ?? input.measured;
  const name = `${mode}: a batch ends well inside the worker's timeout`;
  const path = summaries(mode, 'batchChunks');
  if (batchSeconds * 2 <= workerTimeoutSeconds) {
    const says = `${batchRows} rows take ${amount(batchSeconds)} s of ${workerTimeoutSeconds}`;
    return { name, state: 'ok', says, path };
  }
  const remedy = batchChunks > 1 ? 'take fewer chunks' : 'lower summaries.chunkRows';
  return {
    name,
    state: 'error',
    says: `expected a batch that ends within half of workerTimeoutSeconds (${workerTimeoutSeconds}), got ${batchChunks} × ${chunkRows} rows through a gate of ${gate}, which take ${amount(batchSeconds)} s at ${amount(serviceSeconds)} s a call: ${remedy}, or raise summaries.workerTimeoutSeconds`,
    path,
  };
}

/** The second: what the allowance cannot let through in time is handed back, which costs only messages. */
function checkPace(mode: Mode, plan: Numbers, { workerTimeoutSeconds }: PlanInput): Check {
  const { batchRows } = plan[mode];
  const { callsPerSecond, processes } = lineOf(plan, mode);
  const seconds = (batchRows * processes) / callsPerSecond;
  const name = `${mode}: the allowance lets a batch through in time`;
  const path = summaries(mode, 'batchChunks');
  return seconds <= workerTimeoutSeconds
    ? {
        name,
        state: 'ok',
        says: `${batchRows} rows take ${amount(seconds)} s if all processes work`,
        path,
      }
    : {
        name,
        state: 'note',
        says: `${batchRows} rows take ${amount(seconds)} s if all processes work, longer than the ${workerTimeoutSeconds} s of the worker: what is left is handed back ${often(seconds / workerTimeoutSeconds)}, so lower batchChunks or summaries.chunkRows`,
        path,
      };
}

function often(times: number): string {
  const whole = Math.floor(times);
  return whole === 1 ? 'once or so' : `about ${whole} times`;
}

function checkGate(mode: Mode, { gate, batchRows }: ModePlan): Check {
  const name = `${mode}: a batch fills its gate`;
  const path = summaries(mode, 'batchChunks');
  return gate <= batchRows
    ? { name, state: 'ok', says: `${batchRows} rows through a gate of ${gate}`, path }
    : {
        name,
        state: 'note',
        says: `expected ${gate} rows or more in an invocation, as its gate lets through at once, got ${batchRows}: raise batchChunks or summaries.chunkRows`,
        path,
      };
}

function checkVisibility(
  mode: Mode,
  { visibilitySeconds }: ModePlan,
  { workerTimeoutSeconds }: PlanInput,
): Check {
  return {
    name: `${mode}: a batch is not delivered again while it is worked on`,
    state: visibilitySeconds <= LONGEST_VISIBILITY ? 'ok' : 'error',
    says: `visible again after ${visibilitySeconds} s, six times the timeout of ${workerTimeoutSeconds} s`,
    path: summaries('workerTimeoutSeconds'),
  };
}

function checkCall({ callTimeoutSeconds, workerTimeoutSeconds }: PlanInput): Check {
  const name = 'a slow call can end and be made once more';
  const path = summaries('callTimeoutSeconds');
  return callTimeoutSeconds * 2 <= workerTimeoutSeconds
    ? {
        name,
        state: 'ok',
        says: `2 × ${callTimeoutSeconds} s are within ${workerTimeoutSeconds} s`,
        path,
      }
    : {
        name,
        state: 'error',
        says: `expected at most half of workerTimeoutSeconds (${workerTimeoutSeconds}), so that a slow call can end and be made once more, got ${callTimeoutSeconds}`,
        path,
      };
}

function checkConcurrency({ interactive, bulk }: Numbers, input: PlanInput): Check {
  const { accountConcurrency, othersConcurrency, reserved } = input;
  const workers = interactive.processes + bulk.processes;
  const all = workers + othersConcurrency;
  const most = reserved ? accountConcurrency - KEPT_UNRESERVED : accountConcurrency;
  const name = "all functions fit the AWS account's concurrency";
  const path = 'concurrency.account';
  const sum = `${all} (${interactive.processes} interactive, ${bulk.processes} bulk, ${othersConcurrency} others)`;
  if (all <= most) return { name, state: 'ok', says: `${sum} of ${most}`, path };
  const remedy =
    'raise the quota of concurrent executions and state it here, or set summaries.bulk.gate wider, which needs fewer workers';
  return reserved
    ? {
        name,
        state: 'error',
        says: `expected ${all + KEPT_UNRESERVED} or more, as ${sum} are reserved and AWS keeps ${KEPT_UNRESERVED} from it, got ${accountConcurrency}: ${remedy}`,
        path,
      }
    : {
        name,
        state: 'note',
        says: `expected ${all} or more, as so many run at once at most, ${sum}, got ${accountConcurrency}: beyond it they are throttled, so ${remedy}`,
        path,
      };
}
