import { describe, expect, test } from 'vitest';
import type { RateLimits } from '../../../../shared/summaries/provider.ts';
import {
  NoKeyError,
  type ProviderKind,
  RefusedError,
  UnreachableError,
} from '../../../../shared/summaries/provider-error.ts';
import { verdictOf } from '../../../../shared/summaries/verdict.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

function refused(
  status: number,
  codes: (string | null)[] = [],
  { kind = 'openai' as ProviderKind, limits = {} as RateLimits, detail = '' } = {},
) {
  return verdictOf(new RefusedError({ kind, status, codes, detail, limits, key: undefined }), NOW);
}

test.each([
  [400, 'row'],
  [401, 'stop'],
  [402, 'stop'],
  [403, 'stop'],
  [404, 'stop'],
  [405, 'row'],
  [408, 'wait'],
  [409, 'wait'],
  [413, 'row'],
  [422, 'row'],
  [425, 'wait'],
  [429, 'wait'],
  [451, 'row'],
  [500, 'wait'],
  [502, 'wait'],
  [503, 'wait'],
  [504, 'wait'],
  [529, 'wait'],
])('%i without a code: %s', (status, verdict) => {
  expect(refused(status)).toMatchObject({ verdict });
});

describe('a 429', () => {
  test('of a spent quota stops, by its code, also beside a time to wait', () => {
    const limits = { 'retry-after': '1' };
    const spent = refused(429, ['insufficient_quota', 'insufficient_quota'], { limits });
    expect(spent).toMatchObject({ verdict: 'stop', code: 'quota-spent' });
    expect(refused(429, ['rate_limit_exceeded', 'tokens'])).toMatchObject({ verdict: 'wait' });
  });

  test('that only speaks of the quota waits: nothing is decided by wording', () => {
    const detail = 'You exceeded your current quota, insufficient_quota, billing.';
    expect(refused(429, ['rate_limit_exceeded'], { detail })).toMatchObject({ verdict: 'wait' });
  });

  test("of Anthropic's is its spend cap if it names no time, and a rate if it does", () => {
    const kind = 'anthropic';
    const codes = ['rate_limit_error'];
    expect(refused(429, codes, { kind })).toMatchObject({ verdict: 'stop', code: 'quota-spent' });
    expect(refused(429, codes, { kind, limits: { 'retry-after': '8' } })).toMatchObject({
      verdict: 'wait',
      code: 'rate-limited',
      retryAfterMs: 8000,
    });
    expect(refused(429, codes)).toMatchObject({ verdict: 'wait' });
  });
});

test.each([
  ['ThrottlingException', 429, 'wait', 'rate-limited'],
  ['ServiceQuotaExceededException', 400, 'wait', 'rate-limited'],
  ['ModelNotReadyException', 429, 'wait', 'model-not-ready'],
  ['ModelTimeoutException', 408, 'wait', 'timeout'],
  ['ModelErrorException', 424, 'wait', 'provider-failed'],
  ['ConflictException', 400, 'wait', 'conflict'],
  ['ValidationException', 400, 'row', 'request-refused'],
  ['AccessDeniedException', 403, 'stop', 'key-refused'],
  ['ResourceNotFoundException', 404, 'stop', 'model-not-found'],
] as const)("Bedrock's %s: %s %s", (name, status, verdict, code) => {
  expect(refused(status, [name], { kind: 'bedrock' })).toMatchObject({ verdict, code });
});

test('a sentence says what came, once each, and quotes a refusal of the request in one line', () => {
  const told = refused(400, ['context_length_exceeded', 'invalid_request_error'], {
    detail: 'Too long:\n\n 9000 tokens.',
  });
  expect(told.message).toBe(
    'The provider refused this request (400 context_length_exceeded invalid_request_error: Too long: 9000 tokens).',
  );
  expect(refused(400, [], { detail: 'x'.repeat(5000) }).message.length).toBeLessThan(400);
  expect(refused(401, ['$& <b>'], {}).message).toContain('(401)');
});

test('what is not known waits and is told by its name', () => {
  expect(verdictOf(new RangeError('x'), NOW)).toMatchObject({
    verdict: 'wait',
    code: 'unknown',
    message: expect.stringContaining('RangeError'),
  });
  expect(verdictOf(undefined, NOW)).toMatchObject({ verdict: 'wait', code: 'unknown' });
  expect(verdictOf(new NoKeyError('There are no keys.'), NOW)).toMatchObject({ verdict: 'stop' });
  expect(verdictOf(new UnreachableError('ENOTFOUND', undefined), NOW).message).toContain(
    'ENOTFOUND',
  );
});
