import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAccount } from '../../../../local/provider/account.ts';
import { duration } from '../../../../local/provider/dialect.ts';

function open(changes = {}) {
  const settings = {
    requestsPerMinute: 600,
    tokensPerMinute: 60_000,
    burstSeconds: 60,
    headers: true,
  };
  let time = 0;
  const account = createAccount({ ...settings, ...changes }, () => time);
  return {
    account,
    pass: (ms: number) => {
      time += ms;
    },
  };
}

test('begins full, and is refilled without pause', () => {
  const { account, pass } = open();
  for (let i = 0; i < 600; i++) expect(account.admit(1).admitted).toBe(true);
  const refused = account.admit(1);
  expect(refused).toMatchObject({ admitted: false, short: 'requests' });
  expect(refused).toHaveProperty('retryAfterMs', 100);
  pass(100);
  expect(account.admit(1).admitted).toBe(true);
  expect(account.admit(1).admitted).toBe(false);
});

test('a refused call has spent its request: who hammers, waits longer', () => {
  const { account, pass } = open({ burstSeconds: 0.1 });
  expect(account.admit(0).admitted).toBe(true);
  for (let i = 0; i < 20; i++) {
    pass(60);
    expect(account.admit(0).admitted).toBe(false);
  }
  pass(100);
  expect(account.admit(0).admitted).toBe(true);
});

test('tokens are reserved, and what was not used comes back, never beyond full', () => {
  const { account, pass } = open({ burstSeconds: 1 });
  expect(account.admit(900)).toMatchObject({
    levels: { tokens: { limit: 60_000, remaining: 100, resetMs: 900 } },
  });
  expect(account.admit(200)).toMatchObject({ admitted: false, short: 'tokens', retryAfterMs: 100 });
  account.settle(500);
  expect(account.admit(200).admitted).toBe(true);
  account.settle(1_000_000);
  expect(account.levels().tokens).toEqual({ limit: 60_000, remaining: 1000, resetMs: 0 });
  pass(60_000);
  expect(account.levels().tokens.remaining).toBe(1000);
});

describe('whatever is asked, whenever', () => {
  const steps = fc.array(
    fc.record({
      pass: fc.integer({ min: 0, max: 400 }),
      tokens: fc.integer({ min: 0, max: 3000 }),
    }),
    { minLength: 1, maxLength: 120 },
  );
  const settings = fc.record({
    requestsPerMinute: fc.integer({ min: 1, max: 3000 }),
    tokensPerMinute: fc.integer({ min: 1, max: 300_000 }),
    burstSeconds: fc.double({ min: 0.1, max: 60, noNaN: true }),
  });

  test('no stretch of time lets through more than its share and a burst, and levels agree', () => {
    fc.assert(
      fc.property(settings, steps, (given, calls) => {
        const { account, pass } = open(given);
        const admitted: { at: number; tokens: number }[] = [];
        let time = 0;
        for (const call of calls) {
          pass(call.pass);
          time += call.pass;
          const before = account.levels();
          const admission = account.admit(call.tokens);
          if (admission.admitted) admitted.push({ at: time, tokens: call.tokens });
          expect(before.requests.remaining).toBeGreaterThanOrEqual(0);
          expect(admission.levels.requests.remaining).toBe(
            Math.max(0, before.requests.remaining - 1),
          );
          // Reset = (limit − remaining) × 60 s ÷ limit, of the burst that there is.
          const burst = Math.max(1, (given.requestsPerMinute / 60) * given.burstSeconds);
          const missing = burst - admission.levels.requests.remaining;
          const perMs = given.requestsPerMinute / 60_000;
          expect(admission.levels.requests.resetMs * perMs).toBeLessThanOrEqual(missing + 1e-6);
          expect(admission.levels.requests.resetMs * perMs).toBeGreaterThan(missing - 1 - 1e-6);
        }
        for (const [first, from] of admitted.entries()) {
          let tokens = 0;
          for (const [index, call] of admitted.slice(first).entries()) {
            tokens += call.tokens;
            const minutes = (call.at - from.at) / 60_000;
            const share = (limit: number) =>
              limit * minutes + Math.max(1, (limit / 60) * given.burstSeconds) + 1e-6;
            expect(index + 1).toBeLessThanOrEqual(share(given.requestsPerMinute));
            expect(tokens).toBeLessThanOrEqual(share(given.tokensPerMinute));
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('who waits as long as told is let in', () => {
    fc.assert(
      fc.property(settings, fc.integer({ min: 1, max: 200 }), (given, hammered) => {
        const { account, pass } = open(given);
        for (let i = 0; i < hammered; i++) account.admit(0);
        const admission = account.admit(0);
        if (admission.admitted) return;
        pass(admission.retryAfterMs + 1e-6);
        expect(account.admit(0).admitted).toBe(true);
      }),
    );
  });
});

test.each([
  [0, '0ms'],
  [0.2, '1ms'],
  [120, '120ms'],
  [1000, '1s'],
  [59_999, '59.999s'],
  [60_000, '1m0s'],
  [179_560, '2m59.56s'],
  [360_000, '6m0s'],
  [3_600_000, '1h0m0s'],
])('%d ms is %s in a header of OpenAI', (ms, text) => {
  expect(duration(ms)).toBe(text);
});
