import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Levels,
  readRateLimits,
  readRetryAfter,
  tightest,
  yieldMs,
} from '../../../../shared/summaries/rate-limits.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;

const levelsOf = (headers: Record<string, string>) => readRateLimits(headers, NOW).levels;
const resetOf = (text: string) =>
  levelsOf({ 'x-ratelimit-reset-requests': text }).requests?.resetMs;

describe("what OpenAI's headers say", () => {
  test('is requests and tokens, each with its limit, what remains and when it is full', () => {
    expect(
      levelsOf({
        'x-ratelimit-limit-requests': '5000',
        'x-ratelimit-remaining-requests': '4999',
        'x-ratelimit-reset-requests': '12ms',
        'x-ratelimit-limit-tokens': '2000000',
        'x-ratelimit-remaining-tokens': '1999100',
        'x-ratelimit-reset-tokens': '27ms',
      }),
    ).toEqual({
      requests: { limit: 5000, remaining: 4999, resetMs: 12 },
      tokens: { limit: 2_000_000, remaining: 1_999_100, resetMs: 27 },
    });
  });

  test("is a project's tokens beside those of its organization", () => {
    expect(
      levelsOf({
        'x-ratelimit-limit-tokens': '2000000',
        'x-ratelimit-limit-project-tokens': '40000',
        'x-ratelimit-remaining-project-tokens': '100',
        'x-ratelimit-reset-project-tokens': '59.85s',
      }),
    ).toEqual({
      tokens: { limit: 2_000_000 },
      projectTokens: { limit: 40_000, remaining: 100, resetMs: 59_850 },
    });
  });

  test.each([
    ['1ms', 1],
    ['17ms', 17],
    ['120ms', 120],
    ['0s', 0],
    ['1s', 1000],
    ['7.66s', 7660],
    ['2m59.56s', 179_560],
    ['6m0s', 360_000],
    ['1h0m0s', HOUR],
    ['1h2m3s', HOUR],
    ['23h59m59s', HOUR],
    ['996.147µs', 1],
    ['1s500ms', 1500],
    [' 1s ', 1000],
  ])('%s until a limit is full again is %i ms', (text, ms) => {
    expect(resetOf(text)).toBe(ms);
  });

  test.each([
    '',
    's',
    'm',
    '1',
    '1.5',
    '-1s',
    '1s1s',
    '1s2m',
    '1 s',
    '1.5h',
    'soon',
    '1s, 2s',
    '∞',
  ])('%j is no duration', (text) => {
    expect(resetOf(text)).toBeUndefined();
  });
});

describe("what Anthropic's headers say", () => {
  test('is requests, tokens, and those of input and output, full at a time', () => {
    const four = ['requests', 'tokens', 'input-tokens', 'output-tokens'];
    const headers = Object.fromEntries(
      four.flatMap((name, index) => [
        [`anthropic-ratelimit-${name}-limit`, String((index + 1) * 1000)],
        [`anthropic-ratelimit-${name}-remaining`, String(index)],
        [`anthropic-ratelimit-${name}-reset`, `2026-03-01T12:00:0${index}Z`],
      ]),
    );
    expect(levelsOf(headers)).toEqual({
      requests: { limit: 1000, remaining: 0, resetMs: 0 },
      tokens: { limit: 2000, remaining: 1, resetMs: 1000 },
      inputTokens: { limit: 3000, remaining: 2, resetMs: 2000 },
      outputTokens: { limit: 4000, remaining: 3, resetMs: 3000 },
    });
  });

  test.each([
    ['2026-03-01T12:00:30Z', 30_000],
    ['2026-03-01T12:00:00.5Z', 500],
    ['2026-03-01t12:00:30z', 30_000],
    ['2026-03-01T14:00:30+02:00', 30_000],
    ['2026-03-01T11:59:59Z', 0],
    ['2026-03-02T12:00:00Z', HOUR],
    ['2026-03-01T12:00:30', undefined],
    ['2026-03-01', undefined],
    ['2026-13-01T12:00:30Z', undefined],
  ])('a limit that is full at %s is so after %s ms', (text, ms) => {
    expect(levelsOf({ 'anthropic-ratelimit-tokens-reset': text }).tokens?.resetMs).toBe(ms);
  });

  test("is read by the provider's clock, where ours is another", () => {
    const headers = {
      date: 'Sun, 01 Mar 2026 12:00:40 GMT',
      'anthropic-ratelimit-requests-reset': '2026-03-01T12:00:45Z',
      'retry-after': 'Sun, 01 Mar 2026 12:00:42 GMT',
    };
    expect(readRateLimits(headers, NOW)).toEqual({
      levels: { requests: { resetMs: 5000 } },
      retryAfterMs: 2000,
      date: NOW + 40_000,
    });
  });
});

test("Azure's, without resets and with -1 for what it does not know, are known in part", () => {
  expect(
    levelsOf({
      'x-ratelimit-limit-requests': '100',
      'x-ratelimit-remaining-requests': '-1',
      'x-ratelimit-remaining-tokens': '9000',
    }),
  ).toEqual({ requests: { limit: 100 }, tokens: { remaining: 9000 } });
});

test('a response without such headers says nothing', () => {
  expect(readRateLimits({ 'content-type': 'application/json' }, NOW)).toEqual({ levels: {} });
});

describe('nonsense is unknown, and so never nothing:', () => {
  const NONSENSE = ['', ' ', '-1', '-0.5', 'NaN', 'Infinity', '1e3', '0x10', '1,000', '10, 20'];

  test.each([...NONSENSE, 'none', '1_000', '9'.repeat(400)])('%j', (value) => {
    expect(
      levelsOf({
        'x-ratelimit-limit-requests': value,
        'x-ratelimit-remaining-requests': value,
        'x-ratelimit-reset-requests': value,
        'anthropic-ratelimit-tokens-limit': value,
        'anthropic-ratelimit-tokens-remaining': value,
        'anthropic-ratelimit-tokens-reset': value,
      }),
    ).toEqual({});
  });

  test('a limit of nothing is none, but nothing may remain', () => {
    const headers = { 'x-ratelimit-limit-tokens': '0', 'x-ratelimit-remaining-tokens': '0' };
    expect(levelsOf(headers)).toEqual({ tokens: { remaining: 0 } });
  });

  test.each([
    ['Thu, 01 Jan 1970 00:00:00 GMT'],
    ['2026-03-01T12:00:00Z'],
    ['Sun, 01 Mar 2026 13:00:01 GMT'],
    [''],
  ])('the date %j', (date) => {
    expect(readRateLimits({ date }, NOW).date).toBeUndefined();
  });

  test('an unreadable header of one dialect does not hide that of another', () => {
    expect(
      levelsOf({ 'x-ratelimit-limit-tokens': '-1', 'anthropic-ratelimit-tokens-limit': '7' }),
    ).toEqual({ tokens: { limit: 7 } });
  });
});

describe('the time to wait', () => {
  test.each([
    [{ 'retry-after-ms': '120' }, 120],
    [{ 'retry-after-ms': '120.4', 'retry-after': '9' }, 121],
    [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after': 'Sun, 01 Mar 2026 12:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Sun, 01 Mar 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after': 'Sun, 01 Mar 2099 12:00:00 GMT' }, HOUR],
    [{ 'retry-after': '999999999999' }, HOUR],
  ])('%j is %i ms', (headers, ms) => {
    expect(readRetryAfter(headers, NOW)).toBe(ms);
    expect(readRateLimits(headers, NOW).retryAfterMs).toBe(ms);
  });

  test.each([
    '',
    ' ',
    '-1',
    'NaN',
    'Infinity',
    '1e3',
    '0x10',
    '1, 2',
    '2026-03-01',
    'tomorrow',
    '12 Mar',
  ])('%j is unknown', (value) => {
    const headers = { 'retry-after': value, 'retry-after-ms': value };
    expect(readRetryAfter(headers, NOW)).toBeUndefined();
  });
});

describe('the tightest level', () => {
  test('is that of which the smallest share is left, with what comes back in a second', () => {
    const levels: Levels = {
      requests: { limit: 6000, remaining: 3000 },
      tokens: { limit: 600_000, remaining: 60_000 },
      projectTokens: { limit: 60_000, remaining: 30_000 },
    };
    expect(tightest(levels)).toEqual({
      name: 'tokens',
      limit: 600_000,
      remaining: 60_000,
      share: 0.1,
      refillPerSecond: 10_000,
    });
    const projects = { ...levels, projectTokens: { limit: 60_000, remaining: 600 } };
    expect(tightest(projects)).toMatchObject({ name: 'projectTokens', refillPerSecond: 1000 });
  });

  test('is the first of two that are as tight', () => {
    const half = { limit: 10, remaining: 5 };
    expect(tightest({ tokens: half, requests: half })?.name).toBe('requests');
  });

  test('is unknown where no level has both a limit and what remains', () => {
    expect(tightest({})).toBeUndefined();
    expect(tightest({ requests: { limit: 5 }, tokens: { remaining: 0 } })).toBeUndefined();
  });

  test('of a day comes back by its reset, not within a minute', () => {
    // 200 a day: one comes back in 432 s.
    const level = { limit: 200, remaining: 199, resetMs: 432_000 };
    expect(tightest({ requests: level })?.refillPerSecond).toBeCloseTo(1 / 432, 6);
  });

  test('of an account that keeps one second of its minute comes back no faster than the minute', () => {
    const level = { limit: 6000, remaining: 50, resetMs: 500 };
    expect(tightest({ requests: level })?.refillPerSecond).toBeCloseTo(100, 6);
  });
});

describe('bulk rests', () => {
  test.each([
    // 500 are the reserve, 625 with the margin; 83.3 a second come back.
    ['until a quarter more than the reserve is there', { limit: 5000, remaining: 250 }, 4500],
    ['longest where nothing remains', { limit: 5000, remaining: 0 }, 7500],
    ['not at its reserve', { limit: 5000, remaining: 500 }, 0],
    ['not above it', { limit: 5000, remaining: 5000 }, 0],
    ['not where the limit is unknown', { remaining: 0 }, 0],
    ['not where it is unknown what remains', { limit: 5000 }, 0],
    ['longer where it comes back slower', { limit: 100, remaining: 0, resetMs: HOUR }, 450_000],
    ['for an hour at most', { limit: 100, remaining: 0, resetMs: 10 * HOUR }, HOUR],
  ])('%s', (_name, requests, ms) => {
    expect(yieldMs({ requests }, 0.1)).toBe(ms);
  });

  test('until every level is above its reserve', () => {
    const levels: Levels = {
      requests: { limit: 6000, remaining: 300 },
      tokens: { limit: 600_000, remaining: 0 },
    };
    expect(yieldMs(levels, 0.1)).toBe(7500);
    expect(yieldMs(levels, 0)).toBe(0);
    expect(yieldMs({}, 0.1)).toBe(0);
  });

  test('and is above its reserve when it goes on', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 10_000_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0.01, max: 0.5, noNaN: true }),
        (limit, share, reserve) => {
          const remaining = Math.floor(limit * share);
          const rest = yieldMs({ tokens: { limit, remaining } }, reserve);
          const then = remaining + (limit / 60_000) * rest;
          expect(then).toBeGreaterThanOrEqual(reserve * limit);
        },
      ),
    );
  });
});

describe('whatever the headers,', () => {
  const NAMES = [
    'date',
    'retry-after',
    'retry-after-ms',
    ...['requests', 'tokens', 'project-tokens'].flatMap((level) =>
      ['limit', 'remaining', 'reset'].map((what) => `x-ratelimit-${what}-${level}`),
    ),
    ...['requests', 'tokens', 'input-tokens', 'output-tokens'].flatMap((level) =>
      ['limit', 'remaining', 'reset'].map((what) => `anthropic-ratelimit-${level}-${what}`),
    ),
  ];
  const value = fc.oneof(
    fc.string(),
    fc.integer().map(String),
    fc.double().map(String),
    fc.bigInt().map(String),
    fc.stringMatching(/^(\d{1,6}(\.\d{1,4})?(h|m|s|ms|µs)){1,4}$/),
    fc.date().map((date) => (Number.isNaN(date.getTime()) ? 'Invalid' : date.toISOString())),
    fc.date().map((date) => date.toUTCString()),
    fc.constantFrom('', '-1', '0', 'NaN', '1, 2', '__proto__'),
  );
  const headers = fc.dictionary(fc.constantFrom(...NAMES), value);
  const sensible = (ms: number | undefined) => ms === undefined || (ms >= 0 && ms <= HOUR);

  test('nothing is thrown, negative, not a number or longer than an hour', () => {
    fc.assert(
      fc.property(
        headers,
        fc.integer({ min: 0, max: 4e12 }),
        fc.double({ min: 0, max: 0.5, noNaN: true }),
        (given, now, reserve) => {
          const { levels, retryAfterMs, date } = readRateLimits(given, now);
          expect(sensible(retryAfterMs)).toBe(true);
          expect(retryAfterMs).toBe(readRetryAfter(given, now));
          expect(date === undefined || Math.abs(date - now) <= HOUR).toBe(true);
          for (const level of Object.values(levels)) {
            expect(Object.keys(level).length).toBeGreaterThan(0);
            for (const number of Object.values(level)) expect(number).toBeGreaterThanOrEqual(0);
            expect(sensible(level.resetMs)).toBe(true);
          }
          const found = tightest(levels);
          if (found !== undefined) {
            expect(found.share).toBeGreaterThanOrEqual(0);
            expect(found.refillPerSecond).toBeGreaterThan(0);
          }
          expect(sensible(yieldMs(levels, reserve))).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('what is not a number is not known', () => {
    const notNumbers = value.filter((text) => !/^\s*\d+(\.\d+)?\s*$/.test(text));
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), notNumbers, (name, text) => {
        const { levels } = readRateLimits({ [name]: text }, NOW);
        for (const { limit, remaining } of Object.values(levels)) {
          expect([limit, remaining]).toEqual([undefined, undefined]);
        }
        expect(tightest(levels)).toBeUndefined();
        expect(yieldMs(levels, 0.5)).toBe(0);
      }),
    );
  });
});
