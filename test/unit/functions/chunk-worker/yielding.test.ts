import { expect, test } from 'vitest';
import { createYielding, tellsLimits } from '../../../../functions/chunk-worker/yielding.ts';

const headers = (remaining: number, limit = 6000) => ({
  'x-ratelimit-limit-requests': String(limit),
  'x-ratelimit-remaining-requests': String(remaining),
});

test('bulk work rests while less than the reserve remains', () => {
  const yielding = createYielding(0.1);
  expect(yielding.restMs(headers(6000), 0)).toBe(0);
  expect(yielding.restMs(headers(601), 0)).toBe(0);
  // A quarter more than the reserve of 600 is back after 150 of 100 a second.
  expect(yielding.restMs(headers(600 - 1), 0)).toBe(1510);
});

test('an account that keeps a few seconds at most is held against the most it was seen to have', () => {
  const yielding = createYielding(0.1);
  expect(yielding.restMs(headers(100), 0)).toBe(0);
  expect(yielding.restMs(headers(11), 0)).toBe(0);
  expect(yielding.restMs(headers(9), 0)).toBeGreaterThan(0);
});

test('each limit is held against its own reserve', () => {
  const yielding = createYielding(0.1);
  const tokens = (remaining: number) => ({
    ...headers(6000),
    'x-ratelimit-limit-tokens': '100000',
    'x-ratelimit-remaining-tokens': String(remaining),
  });
  expect(yielding.restMs(tokens(100_000), 0)).toBe(0);
  expect(yielding.restMs(tokens(5000), 0)).toBeGreaterThan(0);
});

test.each([
  ['nothing', {}],
  ['-1', { 'x-ratelimit-limit-requests': '6000', 'x-ratelimit-remaining-requests': '-1' }],
  ['nonsense', { 'x-ratelimit-limit-requests': 'many', 'x-ratelimit-remaining-requests': 'some' }],
])('a provider that says %s is not one that tells its limits', (_, said) => {
  expect(tellsLimits(said, 0)).toBe(false);
  expect(createYielding(0.5).restMs(said, 0)).toBe(0);
});

test('a provider that says what remains is one', () => {
  expect(tellsLimits(headers(1), 0)).toBe(true);
  expect(tellsLimits({ 'anthropic-ratelimit-tokens-remaining': '0' }, 0)).toBe(true);
});
