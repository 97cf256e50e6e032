import {
  AbortedError,
  NoKeyError,
  RefusedError,
  TimedOutError,
  UnreachableError,
  UnreadableAnswerError,
} from './provider-error.ts';
import { readRetryAfter } from './rate-limits.ts';

/**
 * Each sentence tells what to do, if there is something, whoever reads it: what only an operator can
 * do is asked of whoever runs Glimpse. `%` stands for what came.
 */
const SENTENCES = {
  'rate-limited':
    'The provider refused the call for its rate (%): if this goes on, ask whoever runs Glimpse for a larger quota or a lower fleet bound.',
  overloaded: 'The provider has no capacity just now (%): calls begin again by themselves.',
  'provider-failed':
    'The provider failed (%): if this goes on, see its status page; calls begin again by themselves.',
  'model-not-ready': 'The model is still being loaded (%): calls begin again by themselves.',
  timeout:
    'The provider took too long (%): if this goes on, ask for shorter summaries, or whoever runs Glimpse for more time a call.',
  conflict: 'The provider met a conflict (%): the call is made again.',
  unreachable:
    'There is no connection to the provider (%): if this goes on, ask whoever runs Glimpse to check its address and the network.',
  'unreadable-answer':
    'What came is not an answer of the provider (%): if this goes on, ask whoever runs Glimpse to check its address.',
  aborted: 'The call was given up before its answer came: it is made again.',
  unknown:
    'The call failed in a way that is not known (%): whoever runs Glimpse finds the whole error in the logs.',
  'quota-spent':
    "The provider's quota or spend limit is used up (%): ask whoever runs Glimpse to raise it, then resume.",
  'key-refused':
    'The provider refused the key (%): ask whoever runs Glimpse for a valid one that may use the model, then resume.',
  'model-not-found':
    'The provider has no such model or address (%): ask whoever runs Glimpse to correct its name or the address, then resume.',
  'too-large':
    'The provider finds this request too large (%): choose fewer columns, or ask whoever runs Glimpse for a lower bound of the input.',
  'request-refused': 'The provider refused this request (%).',
} as const;

export type WaitCode =
  | 'rate-limited'
  | 'overloaded'
  | 'provider-failed'
  | 'model-not-ready'
  | 'timeout'
  | 'conflict'
  | 'unreachable'
  | 'unreadable-answer'
  | 'aborted'
  | 'unknown';
export const STOP_CODES = ['quota-spent', 'key-refused', 'model-not-found'] as const;
export type StopCode = (typeof STOP_CODES)[number];
export type RowCode = 'too-large' | 'request-refused';

export type Verdict =
  /** The same call may succeed later. */
  | { verdict: 'wait'; code: WaitCode; message: string; retryAfterMs?: number }
  /** No call succeeds until somebody acts. */
  | { verdict: 'stop'; code: StopCode; message: string }
  /** This call never succeeds; others may. */
  | { verdict: 'row'; code: RowCode; message: string };

/**
 * What an error of a call means for the work: here and nowhere else, by code and never by wording.
 * @param now epoch milliseconds, for a `Retry-After` that is a date.
 */
export function verdictOf(error: unknown, now: number): Verdict {
  if (error instanceof RefusedError) return refused(error, now);
  if (error instanceof TimedOutError) {
    return wait('timeout', error.afterMs === undefined ? 'deadline' : `${error.afterMs} ms`);
  }
  if (error instanceof UnreachableError) return wait('unreachable', error.code ?? 'no code');
  if (error instanceof UnreadableAnswerError)
    return wait('unreadable-answer', quoted(error.message));
  if (error instanceof AbortedError) return wait('aborted');
  if (error instanceof NoKeyError) return stop('key-refused', quoted(error.message));
  // Nothing is lost by waiting; the queue bounds how often.
  return wait('unknown', error instanceof Error ? error.name : typeof error);
}

/** Where the code says more than the status. */
const SPENT = new Set(['insufficient_quota', 'billing_not_active', 'billing_hard_limit_reached']);
const NAMED: ReadonlyMap<string, WaitCode> = new Map([
  // 429 too, and no sign of a rate that is too high.
  ['ModelNotReadyException', 'model-not-ready'],
  // Bedrock sends these with statuses that elsewhere condemn the request.
  ['ServiceQuotaExceededException', 'rate-limited'],
  ['ConflictException', 'conflict'],
  ['ModelErrorException', 'provider-failed'],
]);

function refused(error: RefusedError, now: number): Verdict {
  const { status, codes } = error;
  const what = [status, ...new Set(codes)].join(' ');
  const again = readRetryAfter(error.limits, now);
  if (codes.some((code) => SPENT.has(code))) return stop('quota-spent', what);
  const named = codes.map((code) => NAMED.get(code)).find((code) => code !== undefined);
  if (named !== undefined) return wait(named, what, again);
  switch (status) {
    case 401:
    case 403:
      return stop('key-refused', what);
    case 402:
      return stop('quota-spent', what);
    case 404:
      return stop('model-not-found', what);
    case 408:
      return wait('timeout', what, again);
    case 409:
    case 425:
      return wait('conflict', what, again);
    case 413:
      return row('too-large', what);
    case 429:
      return isSpendCap(error) ? stop('quota-spent', what) : wait('rate-limited', what, again);
    case 503:
    case 529:
      return wait('overloaded', what, again);
    default:
      return status >= 400 && status < 500
        ? row('request-refused', `${what}: ${quoted(error.detail)}`)
        : wait('provider-failed', what, again);
  }
}

/** Anthropic's rate limits name a time; its spend limit, with the same status and type, does not. */
function isSpendCap({ kind, limits }: RefusedError): boolean {
  return (
    kind === 'anthropic' &&
    limits['retry-after'] === undefined &&
    limits['retry-after-ms'] === undefined
  );
}

const LONGEST_QUOTE = 300;

/** On one line, without the full stop that ours brings. */
function quoted(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim().replace(/\.$/, '');
  return line.length <= LONGEST_QUOTE ? line : `${line.slice(0, LONGEST_QUOTE).toWellFormed()}…`;
}

function wait(code: WaitCode, what = '', again?: number): Verdict {
  const told = { verdict: 'wait', code, message: sentence(code, what) } as const;
  return again === undefined ? told : { ...told, retryAfterMs: again };
}

function stop(code: StopCode, what: string): Verdict {
  return { verdict: 'stop', code, message: sentence(code, what) };
}

function row(code: RowCode, what: string): Verdict {
  return { verdict: 'row', code, message: sentence(code, what) };
}

function sentence(code: WaitCode | StopCode | RowCode, what: string): string {
  return SENTENCES[code].replace('%', () => what);
}
