import type { RateLimits } from './provider.ts';

/** Nobody is told to wait longer by a header: an account's daily limit is looked at again by the hour. */
const LONGEST_MS = 60 * 60_000;

const HTTP_DATE =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * How long the provider asks to wait, in milliseconds from 0 to an hour; undefined if it does not
 * say, or nothing sensible. @param now epoch milliseconds, for a date.
 */
export function retryAfterMs(headers: RateLimits, now: number): number | undefined {
  const asked =
    numberOf(headers['retry-after-ms']) ??
    times(numberOf(headers['retry-after']), 1000) ??
    until(headers['retry-after'], now);
  return asked === undefined ? undefined : Math.min(Math.ceil(asked), LONGEST_MS);
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}

function times(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}

function until(text: string | undefined, now: number): number | undefined {
  if (text === undefined || !HTTP_DATE.test(text.trim())) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
