import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastSpan, measure, ratesOf, together, toldBy } from '../../../../shared/fleet/measure.ts';
import { NO_USAGE, type UsageItem } from '../../../../shared/fleet/usage-item.ts';

const NOW = 1_000_005_000;
/** The last whole item before NOW began so many items ago. */
const item = (ago: number, usage: Partial<UsageItem>): UsageItem => ({
  ...NO_USAGE,
  at: 999_990 - 10 * ago,
  ...usage,
});

test('a minute is six whole items: the one that is under way is not of it', () => {
  expect(lastSpan(NOW)).toEqual({ from: 999_940, to: 1_000_000 });
  expect(lastSpan(1_000_000_000, 600)).toEqual({ from: 999_400, to: 1_000_000 });
});

test('sums become means: throughput × service time is what was in flight', () => {
  const usage = { calls: 100, serviceMs: 80_000, inputTokens: 9000, outputTokens: 1000 };
  const waits = { gateMs: 200_000, allowanceMs: 50_000, yieldMs: 10_000, refusedMs: 5000 };
  const full = { ...usage, ...waits, refused: 10, failed: 5, processes: 2, storeOps: 5 };
  const { bulk, interactive } = measure({ interactive: [], bulk: [item(0, full)] }, NOW);
  expect(bulk).toEqual({
    seconds: 10,
    callsPerSecond: 10,
    refusedPerSecond: 1,
    failedPerSecond: 0.5,
    tokensPerSecond: 1000,
    inFlight: 8,
    serviceSeconds: 0.8,
    waiting: { gate: 20, allowance: 5, yield: 1, refused: 0.5 },
    processes: 2,
    storeOpsPerCall: 0.05,
  });
  expect(interactive).toMatchObject({ seconds: 10, callsPerSecond: 0, serviceSeconds: undefined });
});

test('what began half a minute ago is not seen as half as fast', () => {
  const calls = [0, 1, 2].map((ago) => item(ago, { calls: 50 }));
  expect(measure({ interactive: calls, bulk: [] }, NOW).interactive).toMatchObject({
    seconds: 30,
    callsPerSecond: 5,
  });
});

test('what ended half a minute ago is seen as slower', () => {
  const calls = [3, 4, 5].map((ago) => item(ago, { calls: 50 }));
  expect(measure({ interactive: [], bulk: calls }, NOW).bulk.callsPerSecond).toBe(2.5);
});

test('items before the minute and the one under way are left out', () => {
  const others = [item(-1, { calls: 9 }), item(6, { calls: 9 })];
  expect(measure({ interactive: others, bulk: [] }, NOW).interactive).toMatchObject({
    seconds: 0,
    callsPerSecond: 0,
  });
});

test('two modes together are as if one had done it all', () => {
  const amount = fc.integer({ min: 0, max: 1_000_000 });
  const usage = fc.record({
    calls: amount,
    refused: amount,
    failed: amount,
    inputTokens: amount,
    outputTokens: amount,
    serviceMs: amount,
    gateMs: amount,
    allowanceMs: amount,
    yieldMs: amount,
    refusedMs: amount,
    processes: amount,
    storeOps: amount,
  });
  fc.assert(
    fc.property(fc.array(usage, { maxLength: 6 }), fc.array(usage, { maxLength: 6 }), (a, b) => {
      const items = (all: typeof a) => all.map((each, index) => item(index, each));
      const span = lastSpan(NOW);
      const separate = together([ratesOf(items(a), span), ratesOf(items(b), span)]);
      const { waiting, serviceSeconds, ...rest } = ratesOf([...items(a), ...items(b)], span);
      for (const [name, value] of Object.entries(rest)) {
        // Of no calls nothing is known; the store's are not counted for them.
        if (name === 'storeOpsPerCall' && [a, b].some((all) => all.every(({ calls }) => !calls))) {
          continue;
        }
        expect(separate[name as keyof typeof rest]).toBeCloseTo(value, 6);
      }
      for (const [name, value] of Object.entries(waiting)) {
        expect(separate.waiting[name as keyof typeof waiting]).toBeCloseTo(value, 6);
      }
      if (serviceSeconds !== undefined) {
        expect(separate.serviceSeconds).toBeCloseTo(serviceSeconds, 6);
      }
    }),
  );
});

test('what the provider last said of the account is that of the latest item that tells', () => {
  const items = [
    item(2, { toldRequests: 5000, toldTokens: 100 }),
    item(0, { calls: 1 }),
    item(1, { toldRequests: 3000 }),
  ];
  expect(toldBy(items)).toEqual({ requests: 3000, tokens: 100 });
  expect(toldBy([])).toEqual({ requests: undefined, tokens: undefined });
});
