import type { AllowanceSettings, Mode } from './allowance-settings.ts';
import type { LineState } from './line-item.ts';
import { type Rates, together, type Wait } from './measure.ts';
import type { ToldAccount } from './usage-item.ts';

// What limits the fleet, and what would help. When throughput × service time is the concurrency that
// was configured and the account is used, the provider is the limit; when it is not, the gap is inside.

/** From what stops all work to what needs nobody. */
export const DIAGNOSES = [
  /** No call succeeds until somebody acts. */
  'stopped',
  /** The provider refuses calls for their rate, though the fleet keeps to the account's. */
  'refused',
  /** There is work, and neither the account nor the bound is used: something here is in the way. */
  'inside',
  /** Bulk work gives way to calls that are not Glimpse's. */
  'yielding',
  /** The processes that run are full, and others might run. */
  'gate',
  /** All processes are full, and the account has more: the fleet bound is too low. */
  'ceiling',
  /** The account is used: as good as it gets with this one. */
  'quota',
  /** Nothing waits: work is done as fast as it comes. */
  'producer',
  'idle',
] as const;

export type DiagnosisCode = (typeof DIAGNOSES)[number];

export interface Diagnosis {
  readonly code: DiagnosisCode;
  /** One or two sentences for an operator, with what was measured. */
  readonly words: string;
  /** What would help, the most likely first; nothing where nobody needs to do anything. */
  readonly help: readonly string[];
}

export interface ModeFacts {
  readonly mode: Mode;
  /** Calls in flight in one process, at most. */
  readonly gate: number;
  /** Processes at once, at most. */
  readonly processes: number;
  /** Chunks: those that wait, and those that a process has or that are held back for a while. */
  readonly queue: { readonly depth: number; readonly inFlight: number };
  readonly rates: Rates;
}

export interface LineFacts {
  /** What the fleet was configured for. */
  readonly account: Pick<AllowanceSettings, 'requestsPerMinute' | 'tokensPerMinute'>;
  /** What it lets through of calls of the usual size: the tighter of its two limits decides. */
  readonly callsPerSecond: number;
  readonly interactiveShare: number;
  /** Seconds that the plan takes a call to take. */
  readonly serviceSeconds: number;
  /** One or two that spend this account. */
  readonly modes: readonly ModeFacts[];
  readonly state: Pick<LineState, 'quietUntil' | 'yieldUntil' | 'cut'>;
  /** What the provider's answers state as its limits, where that is known. */
  readonly told?: ToldAccount;
  /** Why an import is paused, if no call succeeds any more: its failure, which says what to do. */
  readonly stopped?: { readonly name: string; readonly message: string };
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Of the account: its last part is lost to slots that nobody took in time. */
const USED = 0.9;
/** Of the bound: a process between two batches is not full. */
const FULL = 0.8;
/** Of the calls: fewer refusals are the provider's own unevenness. */
const MANY_REFUSED = 0.01;
/** Rows that wait at once, of those in flight: fewer are not why work is slow. */
const FELT = 0.1;

/** Exactly one, and always: `inside` is whatever is none of the others. */
export function diagnose(facts: LineFacts): Diagnosis {
  const scene = lookAt(facts);
  return (
    stopped(scene) ??
    idle(scene) ??
    refused(scene) ??
    quota(scene) ??
    yielding(scene) ??
    full(scene) ??
    producer(scene) ??
    inside(scene)
  );
}

/** Of the lines' diagnoses, the one that somebody should read first. */
export function mostPressing(diagnoses: readonly Diagnosis[]): Diagnosis | undefined {
  const rank = ({ code }: Diagnosis) => DIAGNOSES.indexOf(code);
  return diagnoses.toSorted((one, other) => rank(one) - rank(other))[0];
}

interface Scene {
  readonly facts: LineFacts;
  readonly all: Rates;
  /** Those with something to do. */
  readonly busy: readonly ModeFacts[];
  readonly depth: number;
  /** Parts of the account's requests and of its tokens that are used: 1 is all. */
  readonly used: { readonly requests: number; readonly tokens: number };
}

function lookAt(facts: LineFacts): Scene {
  const { account, modes } = facts;
  const all = together(modes.map(({ rates }) => rates));
  const { requestsPerMinute, tokensPerMinute } = account;
  return {
    facts,
    all,
    busy: modes.filter(isBusy),
    depth: modes.reduce((sum, { queue }) => sum + queue.depth, 0),
    used: {
      requests: (all.callsPerSecond * 60) / requestsPerMinute,
      tokens: tokensPerMinute === null ? 0 : (all.tokensPerSecond * 60) / tokensPerMinute,
    },
  };
}

function isBusy({ queue, rates }: ModeFacts): boolean {
  return queue.depth > 0 || queue.inFlight > 0 || rates.callsPerSecond > 0;
}

function stopped({ facts, all }: Scene): Diagnosis | undefined {
  const succeeded = all.callsPerSecond - all.refusedPerSecond - all.failedPerSecond;
  if (facts.stopped === undefined || succeeded > 0) return undefined;
  const { name, message } = facts.stopped;
  return {
    code: 'stopped',
    words: `The import “${name}” is paused and no call succeeds. ${message}`,
    help: ['Do what that says, then resume the import.'],
  };
}

function idle({ busy, depth }: Scene): Diagnosis | undefined {
  if (busy.length > 0 || depth > 0) return undefined;
  return { code: 'idle', words: 'There is nothing to do: no chunk waits.', help: [] };
}

function refused({ facts, all }: Scene): Diagnosis | undefined {
  const { state, now, account, told } = facts;
  const restMs = state.quietUntil - now;
  const share = all.callsPerSecond === 0 ? 0 : all.refusedPerSecond / all.callsPerSecond;
  const isCut = state.cut !== undefined && now - state.cut.at < RECENT_MS;
  if (restMs <= 0 && share < MANY_REFUSED && !isCut) return undefined;
  const words = [
    all.refusedPerSecond > 0
      ? `The provider refuses ${rate(all.refusedPerSecond)} of ${rate(all.callsPerSecond)} calls a second for their rate.`
      : 'The provider refused calls for their rate.',
    ...(restMs > 0 ? [`Nobody calls for another ${seconds(restMs)}.`] : []),
    ...(isCut && state.cut !== undefined
      ? [
          `Its answers do not say what remains: the fleet went down to ${percent(state.cut.to)} of the account and feels its way back.`,
        ]
      : []),
  ];
  const smaller = smallerThan(account, told);
  if (smaller !== undefined) {
    const { what, configured, real } = smaller;
    words.push(
      `It is configured for ${rate(configured)} ${what} a minute, and the provider's answers say ${rate(real)}.`,
    );
    return {
      code: 'refused',
      words: words.join(' '),
      help: [`Configure the account with ${rate(real)} ${what} a minute, and deploy.`],
    };
  }
  return {
    code: 'refused',
    words: words.join(' '),
    help: [
      'Find out who else uses the account, and give Glimpse one of its own or the part that is left.',
      `Compare the configured ${limitsInWords(account)} with the provider's page of limits: the real ones may be lower.`,
    ],
  };
}

/** A cut says so much about an account for so long. */
const RECENT_MS = 60_000;

function smallerThan(account: LineFacts['account'], told: LineFacts['told']) {
  const { requestsPerMinute, tokensPerMinute } = account;
  const requests = told?.requests ?? Infinity;
  const tokens = told?.tokens ?? Infinity;
  if (requests < requestsPerMinute) {
    return { what: 'requests', configured: requestsPerMinute, real: requests };
  }
  if (tokensPerMinute !== null && tokens < tokensPerMinute) {
    return { what: 'tokens', configured: tokensPerMinute, real: tokens };
  }
  return undefined;
}

function quota(scene: Scene): Diagnosis | undefined {
  const { facts, all, used, depth } = scene;
  const { requestsPerMinute, tokensPerMinute } = facts.account;
  const waits = depth > 0 ? ` ${chunks(depth)} for it.` : '';
  if (used.tokens >= USED && used.tokens >= used.requests && tokensPerMinute !== null) {
    return {
      code: 'quota',
      words: `The account's tokens are used: ${rate(all.tokensPerSecond)} of ${rate(tokensPerMinute / 60)} a second (${percent(used.tokens)}).${waits}`,
      help: [
        ...largerThan(tokensPerMinute, facts.told?.tokens, 'tokens'),
        'Make calls smaller: fewer columns, shorter instructions, a lower bound of the input and of the answer.',
        ...MORE_QUOTA,
      ],
    };
  }
  if (used.requests >= USED) {
    return {
      code: 'quota',
      words: `The account's requests are used: ${rate(all.callsPerSecond)} of ${rate(requestsPerMinute / 60)} a second (${percent(used.requests)}).${waits}`,
      help: [...largerThan(requestsPerMinute, facts.told?.requests, 'requests'), ...MORE_QUOTA],
    };
  }
  return partOfBulk(scene);
}

function largerThan(configured: number, told: number | undefined, what: string): string[] {
  if (told === undefined || told <= configured) return [];
  return [
    `Configure the account with ${rate(told)} ${what} a minute, as the provider's answers say, and deploy.`,
  ];
}

const MORE_QUOTA = [
  'Ask the provider for a larger quota, then raise the configured account.',
  "Send what has time to the provider's batch endpoint: its quota is another, and it costs half.",
];

/** While somebody watches, bulk work has less than the whole account. */
function partOfBulk({ facts, busy, used }: Scene): Diagnosis | undefined {
  const { interactiveShare } = facts;
  const bulk = busy.find(({ mode }) => mode === 'bulk');
  const interactive = busy.find(({ mode }) => mode === 'interactive');
  if (bulk === undefined || interactive === undefined || bulk.queue.depth === 0) return undefined;
  // Of both limits, the one that bulk has used more of; a mode's tokens are as its calls.
  const all = together([bulk.rates, interactive.rates]);
  const part = all.callsPerSecond === 0 ? 0 : bulk.rates.callsPerSecond / all.callsPerSecond;
  const bulkUses = Math.max(used.requests, used.tokens) * part;
  if (bulkUses < USED * (1 - interactiveShare)) return undefined;
  return {
    code: 'quota',
    words: `Bulk work uses its part of the account: ${percent(bulkUses)} of ${percent(1 - interactiveShare)}; the rest is kept for the imports that somebody watches. ${chunks(bulk.queue.depth)} for it.`,
    help: [
      'Wait until those are done: bulk work then has the whole account.',
      'Lower the share of interactive work, if so much is never needed.',
    ],
  };
}

function yielding({ facts, busy }: Scene): Diagnosis | undefined {
  const { state, now } = facts;
  const bulk = busy.find(({ mode }) => mode === 'bulk');
  if (bulk === undefined) return undefined;
  const restMs = state.yieldUntil - now;
  const { waiting, inFlight } = bulk.rates;
  const isFelt = dominant(bulk.rates) === 'yield' && isFeltAt(waiting.yield, inFlight);
  if (restMs <= 0 && !isFelt) return undefined;
  const rest = restMs > 0 ? ` It rests for another ${seconds(restMs)}.` : '';
  return {
    code: 'yielding',
    words: `Bulk work gives way: by the provider's answers little remains of the account, and it is not Glimpse that uses it. ${rowsWait(waiting.yield)}.${rest}`,
    help: [
      'Find out who else uses the account; bulk work goes on by itself when they leave more of it.',
      'Give Glimpse an account of its own, or lower the reserve if those others may be refused.',
    ],
  };
}

function full(scene: Scene): Diagnosis | undefined {
  const { busy } = scene;
  if (busy.every((mode) => isFull(mode, mode.processes))) return ceiling(scene, busy);
  // The other's places are its own: each mode has its processes.
  const one = busy.find((mode) => isFull(mode, mode.processes));
  if (one !== undefined) return ceiling(scene, [one]);
  const few = busy.find((mode) => isFull(mode, mode.rates.processes));
  return few === undefined ? undefined : gate(scene, few);
}

function isFull({ gate, rates }: ModeFacts, processes: number): boolean {
  return rates.inFlight > 0 && rates.inFlight >= FULL * gate * processes;
}

function ceiling(scene: Scene, full: readonly ModeFacts[]): Diagnosis {
  const { facts, all, busy } = scene;
  const inFlight = full.reduce((sum, { rates }) => sum + rates.inFlight, 0);
  const what =
    full.length < busy.length ? `All processes of ${full[0]?.mode} work` : 'All processes';
  const service = all.serviceSeconds ?? 0;
  return {
    code: 'ceiling',
    words: `${what} are full: ${rate(inFlight)} of ${rate(boundOf(full))} calls are in flight, and ${madeInWords(scene)}. The account has more.`,
    help: [
      ...(service > facts.serviceSeconds
        ? [
            `Calls take longer than the ${rate(facts.serviceSeconds)} s that the plan takes them to: configure the measured ${rate(service)} s, and deploy.`,
          ]
        : []),
      'Raise the headroom of the fleet bound step by step, until completed rows a minute stop improving.',
    ],
  };
}

function gate(scene: Scene, few: ModeFacts): Diagnosis {
  const { gate, processes, rates } = few;
  return {
    code: 'gate',
    words: `The processes that run are full: ${rate(rates.inFlight)} of ${rate(gate * rates.processes)} calls are in flight in ${rate(rates.processes)} processes of ${processes}, and ${madeInWords(scene)}.`,
    help:
      scene.depth > 0
        ? [
            'Give AWS a minute to start the others; if they do not come, look for throttles of the worker function and at the concurrency of the AWS account.',
            'Let each take fewer chunks at once, so that the chunks reach more processes.',
          ]
        : [
            'Make chunks smaller or let a process take fewer at once, so that they reach the others.',
          ],
  };
}

function madeInWords({ facts, all }: Scene): string {
  return `only ${rate(all.callsPerSecond)} of ${rate(facts.callsPerSecond)} calls a second are made, each of ${rate(all.serviceSeconds ?? 0)} s`;
}

function boundOf(modes: readonly ModeFacts[]): number {
  return modes.reduce((sum, { gate, processes }) => sum + gate * processes, 0);
}

function producer({ all, busy, depth }: Scene): Diagnosis | undefined {
  if (depth > 0 || all.callsPerSecond === 0) return undefined;
  return {
    code: 'producer',
    words: `No chunk waits: work is done as fast as it comes, with ${rate(all.inFlight)} of ${rate(boundOf(busy))} calls in flight.`,
    help: ['Nothing here is in the way: there is room for more imports at the same time.'],
  };
}

function inside({ facts, all, busy, depth }: Scene): Diagnosis {
  const held = busy.reduce((sum, { queue }) => sum + queue.inFlight, 0);
  const work =
    depth > 0 ? chunks(depth) : held === 1 ? '1 chunk is taken' : `${count(held)} chunks are taken`;
  const gap = `${work}, but ${rate(all.inFlight)} of ${rate(boundOf(busy))} calls are in flight and ${rate(all.callsPerSecond)} of ${rate(facts.callsPerSecond)} a second are made`;
  const wait = dominant(all);
  if (wait === undefined) {
    return {
      code: 'inside',
      words: `${gap}. Rows wait for nothing that is measured.`,
      help: [
        'Look for errors and throttles of the worker functions, and for chunks in the dead-letter queue.',
        'Processes that have just started are seen after some ten seconds.',
      ],
    };
  }
  return {
    code: 'inside',
    words: `${gap}. Most of all rows wait ${FOR[wait]}: ${rate(all.waiting[wait])} at a time.`,
    help: HELP[wait],
  };
}

const FOR: Readonly<Record<Wait, string>> = {
  gate: 'for a free place in their process',
  allowance: 'for the shared allowance',
  yield: 'for callers that are not Glimpse’s',
  refused: 'after refusals and failures of the provider',
};

const HELP: Readonly<Record<Wait, readonly string[]>> = {
  gate: [
    'Let each process take fewer chunks at once, so that the rows reach more processes.',
    'Widen the gate where few processes run.',
  ],
  allowance: [
    'Look for errors of the fleet table in the logs of the workers: without it nobody calls.',
    'Give the workers more memory, and so more of a processor: one that is late misses its turns.',
    'Look at the calls of the table for each call of the provider: well above 0.1 the frames are too short for so many processes.',
  ],
  yield: ['Find out who else uses the account.'],
  refused: [
    'Look at the failed calls: rows that were refused an answer wait longer with each try.',
    "See the provider's status page.",
  ],
};

/**
 * What rows wait for most, if it is felt. They wait for the gate behind whatever those ahead of them
 * wait for, so that it counts only where nothing else does.
 */
function dominant({ waiting, inFlight }: Rates): Wait | undefined {
  const others = ['allowance', 'yield', 'refused'] as const;
  const [most] = others.toSorted((one, other) => waiting[other] - waiting[one]);
  if (most !== undefined && isFeltAt(waiting[most], inFlight)) return most;
  return isFeltAt(waiting.gate, inFlight) ? 'gate' : undefined;
}

function isFeltAt(rows: number, inFlight: number): boolean {
  return rows > 0 && rows >= FELT * inFlight;
}

// Numbers as an operator reads them: three digits say enough.

const NUMBER = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const COUNT = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** `83.3`, `0.052`, `5,000`; whole numbers in full. */
function rate(value: number): string {
  return Number.isInteger(value) || value >= 1000 ? COUNT.format(value) : NUMBER.format(value);
}

function count(value: number): string {
  return COUNT.format(value);
}

function percent(part: number): string {
  return `${COUNT.format(part * 100)} %`;
}

function seconds(ms: number): string {
  return `${COUNT.format(Math.ceil(ms / 1000))} s`;
}

function chunks(depth: number): string {
  return depth === 1 ? '1 chunk waits' : `${count(depth)} chunks wait`;
}

function rowsWait(rows: number): string {
  return `${rate(rows)} rows wait for that at a time`;
}

function limitsInWords({ requestsPerMinute, tokensPerMinute }: LineFacts['account']): string {
  const requests = `${rate(requestsPerMinute)} requests`;
  return tokensPerMinute === null
    ? `${requests} a minute`
    : `${requests} and ${rate(tokensPerMinute)} tokens a minute`;
}
