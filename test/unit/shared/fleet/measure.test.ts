import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  figuresAt,
  lastSpan,
  measure,
  ratesOf,
  together,
  toldBy,
} from '../../../../shared/fleet/measure.ts';
import { NO_USAGE, type UsageItem } from '../../../../shared/fleet/usage-item.ts';

const NOW = 1_000_005_000;
/** The last whole item before NOW began so many items ago. */
const item = (ago: number, usage: Partial<UsageItem>): UsageItem => ({
  ...NO_USAGE,
  at: 999_990 - 10 * ago,
  ...usage,
});

const usage = (interactive: UsageItem[], bulk: UsageItem[] = []) => ({ interactive, bulk });
const SHARED = [{ modes: ['interactive', 'bulk'], callsPerSecond: 80 }] as const;
const OWN = [
  { modes: ['interactive'], callsPerSecond: 80 },
  { modes: ['bulk'], callsPerSecond: 80 },
] as const;

test('a minute is six whole items, and one is whole three seconds after its time is over', () => {
  expect(lastSpan(NOW)).toEqual({ from: 999_940, to: 1_000_000 });
  expect(lastSpan(NOW - 2001)).toEqual({ from: 999_930, to: 999_990 });
  expect(lastSpan(NOW, 600)).toEqual({ from: 999_400, to: 1_000_000 });
});

test('sums become means: throughput × service time is what was in flight', () => {
  const did = { calls: 100, serviceMs: 80_000, inputTokens: 9000, outputTokens: 1000 };
  const waits = { gateMs: 200_000, allowanceMs: 50_000, yieldMs: 10_000, refusedMs: 5000 };
  const full = { ...did, ...waits, refused: 10, failed: 5, processes: 2, storeOps: 5 };
  const { rates, lately } = measure(usage([], [item(1, { calls: 1 }), item(0, full)]), SHARED, NOW);
  expect(rates.bulk).toEqual({
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
  expect(rates.interactive).toMatchObject({
    seconds: 10,
    callsPerSecond: 0,
    serviceSeconds: undefined,
  });
  expect(lately).toEqual(rates);
});

describe('a run that is younger than the minute', () => {
  const calls = [1, 2, 3].map((ago) => item(ago, { calls: 50 }));

  test('is measured from its second item on: in the first it had only begun', () => {
    const { rates, runs } = measure(usage([item(0, { calls: 50 }), ...calls]), SHARED, NOW);
    expect(rates.interactive).toMatchObject({ seconds: 30, callsPerSecond: 5 });
    expect(runs).toEqual({
      interactive: { began: 999_960, ended: 1_000_000 },
      bulk: undefined,
    });
  });

  test('has no figures as long as only its first item, or one that is under way, has calls', () => {
    for (const ago of [0, -1]) {
      const { rates, runs } = measure(usage([item(ago, { calls: 50 })]), SHARED, NOW);
      expect(rates.interactive.seconds).toBe(0);
      expect(runs.interactive?.ended).toBe(1_000_000 - 10 * ago);
    }
  });

  test('begins again after a pause of two items, and not after one', () => {
    const from = (...agos: number[]) =>
      measure(usage(agos.map((ago) => item(ago, { calls: 10 }))), SHARED, NOW).rates.interactive;
    expect(from(5, 4, 1, 0).seconds).toBe(10);
    expect(from(5, 4, 2, 1, 0).seconds).toBe(50);
  });

  test('has longer pauses where the account lets few calls through', () => {
    const few = [{ modes: ['interactive', 'bulk'], callsPerSecond: 0.2 }] as const;
    const items = [12, 8, 4, 0].map((ago) => item(ago, { calls: 1 }));
    expect(measure(usage(items), few, NOW).rates.interactive.seconds).toBe(60);
    expect(measure(usage(items), SHARED, NOW).rates.interactive.seconds).toBe(0);
  });

  test('of one mode is a part of what both do on their account, and no part of another', () => {
    const long = Array.from({ length: 20 }, (_, ago) => item(ago, { calls: 800 }));
    const both = usage([item(0, { calls: 100 })], long);
    const shared = measure(both, SHARED, NOW);
    expect(shared.rates.bulk).toMatchObject({ seconds: 60, callsPerSecond: 80 });
    expect(shared.rates.interactive).toMatchObject({ seconds: 60 });
    expect(shared.lately.interactive.callsPerSecond).toBe(10);
    expect(shared.runs.interactive).toEqual({ began: 999_990, ended: 1_000_000 });
    expect(measure(both, OWN, NOW).rates).toMatchObject({
      interactive: { seconds: 0 },
      bulk: { seconds: 60, callsPerSecond: 80 },
    });
  });
});

test('a run that began before the minute is measured for all of it', () => {
  const items = Array.from({ length: 30 }, (_, ago) => item(ago, { calls: 50 }));
  expect(measure(usage(items), SHARED, NOW).rates.interactive).toMatchObject({
    seconds: 60,
    callsPerSecond: 5,
  });
});

test('what ended a moment ago is seen as slower, and what ended before as over', () => {
  const ended = (ago: number) =>
    measure(
      usage(
        [],
        [0, 1, 2, 3, 4, 5].map((index) => item(ago + index, { calls: 60 })),
      ),
      SHARED,
      NOW,
    );
  expect(ended(1).rates.bulk).toMatchObject({ seconds: 60, callsPerSecond: 5 });
  expect(ended(1).lately.bulk.callsPerSecond).toBe(0);
  expect(ended(2).rates.bulk).toMatchObject({ seconds: 20, callsPerSecond: 0 });
});

test('there are figures of a run when its second item is whole', () => {
  const began = 999_967;
  const at = figuresAt(began);
  expect(at).toBe(999_983_000);
  const items = [999_960, 999_970].map((from) => ({ ...NO_USAGE, at: from, calls: 10 }));
  expect(measure(usage(items), SHARED, at - 1).rates.interactive.seconds).toBe(0);
  expect(measure(usage(items), SHARED, at).rates.interactive.seconds).toBe(10);
});

test('two modes together are as if one had done it all', () => {
  const amount = fc.integer({ min: 0, max: 1_000_000 });
  const amounts = fc.record({
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
    fc.property(
      fc.array(amounts, { maxLength: 6 }),
      fc.array(amounts, { maxLength: 6 }),
      (a, b) => {
        const items = (all: typeof a) => all.map((each, index) => item(index, each));
        const span = lastSpan(NOW);
        const separate = together([ratesOf(items(a), span), ratesOf(items(b), span)]);
        const { waiting, serviceSeconds, ...rest } = ratesOf([...items(a), ...items(b)], span);
        for (const [name, value] of Object.entries(rest)) {
          // Of no calls nothing is known; the store's are not counted for them.
          if (
            name === 'storeOpsPerCall' &&
            [a, b].some((all) => all.every(({ calls }) => !calls))
          ) {
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
      },
    ),
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
