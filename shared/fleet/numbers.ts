import type { AllowanceSettings, Mode } from './allowance-settings.ts';
import type { Account, Measured, PlanInput } from './plan-input.ts';

export const MODES = ['interactive', 'bulk'] as const satisfies readonly Mode[];

/** One account, and who spends it. */
export interface LinePlan {
  readonly line: AllowanceSettings['line'];
  readonly modes: readonly Mode[];
  readonly account: Account;
  readonly measured: Measured;
  /** Calls a second that the account lets through, and which of its limits says so. */
  readonly callsPerSecond: number;
  readonly decidedBy: 'requests' | 'tokens';
  /** Calls in flight that use all of it up, if each takes as long as on average. */
  readonly needed: number;
  /** Calls in flight of all its processes together, at most. */
  readonly bound: number;
  /** Processes at once. */
  readonly processes: number;
  /** The sum of their gates. */
  readonly inFlight: number;
  /** What they are told. */
  readonly allowance: AllowanceSettings;
}

export interface ModePlan {
  /** Its part of the fleet bound. */
  readonly bound: number;
  /** Calls in flight in one process. */
  readonly gate: number;
  /** Processes at once: the reserved concurrency, and the maximum concurrency of the mapping. */
  readonly processes: number;
  readonly connections: number;
  readonly batchChunks: number;
  readonly visibilitySeconds: number;
  /** Rows that an invocation takes, and its seconds if the allowance does not hold it up. */
  readonly batchRows: number;
  readonly batchSeconds: number;
}

export interface Numbers {
  readonly fleetBound: number;
  readonly lines: readonly LinePlan[];
  readonly interactive: ModePlan;
  readonly bulk: ModePlan;
}

/** What a killed process had in flight is paid for twice, so the gates are no wider than they must be. */
export const PREFERRED_GATE = 10;
const WIDEST_GATE = 1000;
/** A mapping's least, and its most. */
const FEWEST_PROCESSES = 2;
const MOST_PROCESSES = 1000;
/** A process takes the calls of a frame at once: so many, that the table hears little of them. */
export const CALLS_A_BLOCK = 15;
const SHORTEST_FRAME = 2;
/** Who comes to a full frame waits for the next: longer than this costs more than what it saves of the table. */
const LONGEST_FRAME = 8;
/** What a sum of fractions may be off by, which no call in flight is worth. */
const EPSILON = 1e-6;

/** AWS asks for so much, or a throttled batch would be delivered again while it waits. */
export function visibilitySecondsFor(timeoutSeconds: number, windowSeconds = 0): number {
  return 6 * timeoutSeconds + windowSeconds;
}

export function planNumbers(input: PlanInput): Numbers {
  const accounts = accountsOf(input);
  const partOf = (mode: Mode) => {
    const of = accounts.find(({ modes }) => modes.includes(mode));
    return of === undefined ? 0 : split(of, mode, input);
  };
  const modes = {
    interactive: planMode('interactive', partOf('interactive'), input),
    bulk: planMode('bulk', partOf('bulk'), input),
  };
  const lines = accounts.map((account) => planLine(account, modes, input));
  return { fleetBound: lines.reduce((sum, { bound }) => sum + bound, 0), lines, ...modes };
}

/** Whose account a mode spends. */
export function lineOf({ lines }: Pick<Numbers, 'lines'>, mode: Mode): LinePlan {
  const line = lines.find(({ modes }) => modes.includes(mode));
  if (line === undefined) throw new Error(`No line is planned for ${mode} work.`);
  return line;
}

type AccountPlan = Omit<LinePlan, 'processes' | 'inFlight' | 'allowance'>;

/** One account for both modes; two as soon as one of them has its own. */
function accountsOf(input: PlanInput): AccountPlan[] {
  const { account, measured } = input;
  if (input.interactive.own === undefined && input.bulk.own === undefined) {
    return [bounded({ line: 'shared', modes: MODES, account, measured }, input)];
  }
  return MODES.map((mode) =>
    bounded({ line: mode, modes: [mode], account, measured, ...input[mode].own }, input),
  );
}

function bounded(
  spent: Pick<LinePlan, 'line' | 'modes' | 'account' | 'measured'>,
  { headroom }: PlanInput,
): AccountPlan {
  const { account, measured, modes } = spent;
  const { requestsPerMinute, tokensPerMinute } = account;
  const byTokens =
    tokensPerMinute === null ? Number.POSITIVE_INFINITY : tokensPerMinute / measured.tokensPerCall;
  const callsPerSecond = Math.min(requestsPerMinute, byTokens) / 60;
  const needed = callsPerSecond * measured.serviceSeconds;
  return {
    ...spent,
    callsPerSecond,
    decidedBy: byTokens < requestsPerMinute ? 'tokens' : 'requests',
    needed,
    bound: Math.max(fewest(modes), Math.ceil(needed * headroom - EPSILON)),
  };
}

/** Two processes a mode with one call each. */
export function fewest(modes: readonly Mode[]): number {
  return FEWEST_PROCESSES * modes.length;
}

/** A mode's part of its account's calls in flight. What a configuration has decided comes first. */
function split(account: AccountPlan, mode: Mode, input: PlanInput): number {
  const { bound, modes } = account;
  const other = modes.find((each) => each !== mode);
  if (other === undefined) return bound;
  const decided = decidedFor(mode, input);
  if (decided !== undefined) return decided;
  const watched = Math.floor(bound * input.interactiveShare + EPSILON);
  if (mode === 'interactive') {
    const most = bound - (decidedFor(other, input) ?? FEWEST_PROCESSES);
    return Math.max(FEWEST_PROCESSES, Math.min(watched, most));
  }
  return Math.max(FEWEST_PROCESSES, bound - split(account, other, input));
}

function decidedFor(mode: Mode, input: PlanInput): number | undefined {
  const { concurrency, gate } = input[mode];
  return concurrency === undefined || gate === undefined ? undefined : concurrency * gate;
}

function planMode(mode: Mode, bound: number, input: PlanInput): ModePlan {
  const { chunkRows, workerTimeoutSeconds } = input;
  const { batchChunks } = input[mode];
  const batchRows = batchChunks * chunkRows;
  // A gate that is wider than a batch is never full.
  const preferred = input[mode].gate ?? Math.min(PREFERRED_GATE, batchRows);
  const processes =
    input[mode].concurrency ??
    within(FEWEST_PROCESSES, Math.floor(bound / preferred), MOST_PROCESSES);
  const gate = input[mode].gate ?? within(1, Math.floor(bound / processes), WIDEST_GATE);
  const { serviceSeconds } = input[mode].own?.measured ?? input.measured;
  return {
    bound,
    gate,
    processes,
    connections: gate,
    batchChunks,
    visibilitySeconds: visibilitySecondsFor(workerTimeoutSeconds),
    batchRows,
    batchSeconds: Math.ceil(batchRows / gate) * serviceSeconds,
  };
}

function planLine(
  account: AccountPlan,
  plans: Record<Mode, ModePlan>,
  { interactiveShare, reserve }: PlanInput,
): LinePlan {
  const { line, modes, callsPerSecond } = account;
  const processes = modes.reduce((sum, mode) => sum + plans[mode].processes, 0);
  const inFlight = modes.reduce((sum, mode) => sum + plans[mode].processes * plans[mode].gate, 0);
  const frame = Math.ceil((CALLS_A_BLOCK * processes) / callsPerSecond - EPSILON);
  return {
    ...account,
    processes,
    inFlight,
    allowance: {
      line,
      ...account.account,
      // Who has an account alone shares it with nobody.
      interactiveShare: line === 'shared' ? interactiveShare : 0,
      frameSeconds: within(SHORTEST_FRAME, frame, LONGEST_FRAME),
      reserve,
    },
  };
}

function within(least: number, value: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
