import type { RateLimits } from './provider.ts';

// What the headers of a response say of the account's limits, in every provider's dialect at once:
// compatible servers mix them. What is absent, -1, empty, several values or nonsense is unknown, and
// unknown is never nothing: an Azure account whose remaining is -1 is not at its end.

/** One limit of an account. What is not known is not there. */
export interface Level {
  /** Requests or tokens, 1 or more. Most are of a minute, but neither header nor name says so. */
  readonly limit?: number;
  readonly remaining?: number;
  /** Milliseconds, from 0 to an hour, until all of it is there again. */
  readonly resetMs?: number;
}

/** In this order where two are as tight: what one call takes, then its tokens. */
export const LEVEL_NAMES = [
  'requests',
  'tokens',
  'projectTokens',
  'inputTokens',
  'outputTokens',
] as const;

export type LevelName = (typeof LEVEL_NAMES)[number];

export type Levels = Readonly<Partial<Record<LevelName, Level>>>;

export interface ToldLimits {
  readonly levels: Levels;
  /** How long the provider asks to wait: milliseconds from 0 to an hour. */
  readonly retryAfterMs?: number;
  /** The provider's own time, epoch milliseconds, cut to the second before. */
  readonly date?: number;
}

/** Nobody is told to wait longer by a header: an account's daily limit is looked at again by the hour. */
const LONGEST_MS = 60 * 60_000;

const MINUTE_MS = 60_000;

/**
 * Where each dialect says it. `%` stands for `limit`, `remaining` or `reset`. Bedrock says nothing;
 * Azure says OpenAI's without resets.
 */
const HEADERS: Readonly<Record<LevelName, readonly string[]>> = {
  requests: ['x-ratelimit-%-requests', 'anthropic-ratelimit-requests-%'],
  tokens: ['x-ratelimit-%-tokens', 'anthropic-ratelimit-tokens-%'],
  projectTokens: ['x-ratelimit-%-project-tokens'],
  inputTokens: ['anthropic-ratelimit-input-tokens-%'],
  outputTokens: ['anthropic-ratelimit-output-tokens-%'],
};

/** @param now epoch milliseconds; a provider's times are read by its own clock where it shows that. */
export function readRateLimits(headers: RateLimits, now: number): ToldLimits {
  const date = dateOf(headers, now);
  const retryAfterMs = readRetryAfter(headers, now);
  const levels: Partial<Record<LevelName, Level>> = {};
  for (const name of LEVEL_NAMES) {
    const level = levelOf(headers, HEADERS[name], date ?? now);
    if (level !== undefined) levels[name] = level;
  }
  return {
    levels,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(date === undefined ? {} : { date }),
  };
}

/**
 * How long the provider asks to wait, in milliseconds from 0 to an hour; undefined if it does not
 * say, or nothing sensible. @param now epoch milliseconds, for a date.
 */
export function readRetryAfter(headers: RateLimits, now: number): number | undefined {
  const asked =
    numberOf(headers['retry-after-ms']) ??
    times(numberOf(headers['retry-after']), 1000) ??
    from(httpDate(headers['retry-after']), dateOf(headers, now) ?? now);
  return asked === undefined ? undefined : bounded(asked);
}

export interface Tightest {
  readonly name: LevelName;
  readonly limit: number;
  readonly remaining: number;
  /** `remaining` ÷ `limit`. */
  readonly share: number;
  readonly refillPerSecond: number;
}

/**
 * The level of which the least is left, as a share of its limit; undefined where no level is known.
 * Anthropic's `tokens` is the tighter of its input and output, which count all the same where a
 * server sends only those.
 */
export function tightest(levels: Levels): Tightest | undefined {
  let found: Tightest | undefined;
  for (const level of knownLevels(levels)) {
    if (found === undefined || level.share < found.share) found = level;
  }
  return found;
}

/** Bulk rests until so much of the reserve is there, or its first call would end its rest. */
const MARGIN = 1.25;

/**
 * Milliseconds, from 0 to an hour, that bulk must rest until each level is above its reserve again, if
 * nobody calls; 0 where none is known. @param reserve the share of a limit, 0 to 0.5, that bulk leaves.
 */
export function yieldMs(levels: Levels, reserve: number): number {
  let longest = 0;
  for (const { limit, remaining, refillPerSecond } of knownLevels(levels)) {
    if (!(remaining < reserve * limit)) continue;
    const wanted = Math.min(limit, reserve * limit * MARGIN) - remaining;
    longest = Math.max(longest, bounded((wanted / refillPerSecond) * 1000));
  }
  return longest;
}

function* knownLevels(levels: Levels): Generator<Tightest> {
  for (const name of LEVEL_NAMES) {
    const { limit, remaining, resetMs } = levels[name] ?? {};
    if (limit === undefined || remaining === undefined) continue;
    const refillPerSecond = refill(limit, remaining, resetMs) * 1000;
    yield { name, limit, remaining, share: remaining / limit, refillPerSecond };
  }
}

/**
 * What comes back in a millisecond. A reset tells a limit of a day from one of a minute: what is
 * missing is there again by then. It is believed only where it is the slower one, as an account that
 * keeps a few seconds' worth at most is full long before its remaining is its limit.
 */
function refill(limit: number, remaining: number, resetMs: number | undefined): number {
  const ofMinute = limit / MINUTE_MS;
  const missing = limit - remaining;
  if (resetMs === undefined || resetMs === 0 || missing <= 0) return ofMinute;
  return Math.min(ofMinute, missing / resetMs);
}

function levelOf(
  headers: RateLimits,
  names: readonly string[],
  providersNow: number,
): Level | undefined {
  const said = <T>(what: string, read: (text: string | undefined) => T | undefined) =>
    names
      .map((name) => read(headers[name.replace('%', what)]))
      .find((value) => value !== undefined);
  // A limit of nothing is how some servers say that there is none.
  const limit = said('limit', (text) => atLeastOne(numberOf(text)));
  const remaining = said('remaining', numberOf);
  const reset = said('reset', (text) => duration(text) ?? from(instant(text), providersNow));
  if (limit === undefined && remaining === undefined && reset === undefined) return undefined;
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(reset === undefined ? {} : { resetMs: bounded(reset) }),
  };
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+(\.\d+)?$/.test(text.trim())) return undefined;
  const value = Number(text);
  return value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

function atLeastOne(value: number | undefined): number | undefined {
  return value === undefined || value < 1 ? undefined : value;
}

/** As Go writes them: `1ms`, `2m59.56s`, `6m0s`, `1h2m3s`. */
const DURATION =
  /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?(?:(\d+(?:\.\d+)?)[uµμ]s)?$/;
const UNITS_MS = [3_600_000, MINUTE_MS, 1000, 1, 0.001];

function duration(text: string | undefined): number | undefined {
  const parts = text === undefined ? undefined : DURATION.exec(text.trim())?.slice(1);
  if (parts === undefined || parts.every((part) => part === undefined)) return undefined;
  return UNITS_MS.reduce((sum, unit, index) => sum + Number(parts[index] ?? 0) * unit, 0);
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

function instant(text: string | undefined): number | undefined {
  if (text === undefined || !RFC_3339.test(text.trim())) return undefined;
  return timeOf(text.trim().toUpperCase());
}

const HTTP_DATE =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

function httpDate(text: string | undefined): number | undefined {
  return text !== undefined && HTTP_DATE.test(text.trim()) ? timeOf(text) : undefined;
}

function timeOf(text: string): number | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** A clock an hour from ours is no clock: AWS would refuse each call of ours if ours were the wrong one. */
function dateOf(headers: RateLimits, now: number): number | undefined {
  const date = httpDate(headers.date);
  return date !== undefined && Math.abs(date - now) <= LONGEST_MS ? date : undefined;
}

function from(at: number | undefined, now: number): number | undefined {
  return at === undefined ? undefined : at - now;
}

function times(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}

function bounded(ms: number): number {
  return Math.min(Math.max(0, Math.ceil(ms)), LONGEST_MS);
}
