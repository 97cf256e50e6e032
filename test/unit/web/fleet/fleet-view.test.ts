import { describe, expect, test } from 'vitest';
import {
  measuredSeconds,
  mostChunks,
  readFleet,
  wasUsed,
} from '../../../../web/fleet/fleet-view.ts';
import { told } from './told.ts';

test('an answer is read: times, both modes, and of the plan what is to be seen', () => {
  const view = readFleet(told());
  const end = Date.parse('2026-03-01T12:00:00Z');
  expect(view.measured.at).toBe(end);
  // Each step is drawn where it ends.
  expect(view.measured.series.times.map((at) => at - end / 1000)).toEqual([-20, -10, 0]);
  expect(view.measured.bulk).toMatchObject({ inFlight: 66.4, serviceSeconds: 0.8 });
  expect(view.measured.interactive).not.toHaveProperty('serviceSeconds');
  expect(view.plan).toMatchObject({
    fleetBound: 134,
    modes: { interactive: { processes: 4 }, bulk: { gate: 10 } },
    findings: [{ name: 'a batch fills its gate', says: 'it does not' }],
  });
  expect(view.plan.allowed.callsPerSecond).toBe(83.333);
  expect(view.plan.allowed.tokensPerSecond).toBeCloseTo(33_333.3, 0);
});

test('two accounts allow what both do, and tokens only if both count them', () => {
  const line = (requestsPerMinute: number, tokensPerMinute: number | null) => ({
    callsPerSecond: requestsPerMinute / 60,
    account: { requestsPerMinute, tokensPerMinute },
  });
  const plan = (...lines: object[]) => told({ plan: { ...(told().plan as object), lines } });
  expect(readFleet(plan(line(600, 60_000), line(1200, 120_000))).plan.allowed).toEqual({
    callsPerSecond: 30,
    tokensPerSecond: 3000,
  });
  expect(readFleet(plan(line(600, 60_000), line(1200, null))).plan.allowed).toEqual({
    callsPerSecond: 30,
  });
});

test('the state of an account is there while it matters', () => {
  const [diagnosis] = [told().diagnosis];
  const quietUntil = '2026-03-01T12:00:05.000Z';
  const line = { line: 'shared', diagnosis, quietUntil, cut: { to: 0.8, at: quietUntil } };
  const [read] = readFleet(told({ lines: [line] })).lines;
  expect(read).toMatchObject({
    quietUntil: Date.parse(quietUntil),
    cut: { to: 0.8, at: Date.parse(quietUntil) },
  });
  expect(read).not.toHaveProperty('yieldUntil');
});

test('a fleet has figures once one of its accounts has some', () => {
  expect(measuredSeconds(readFleet(told()))).toBe(60);
  const { measured } = told() as { measured: Record<string, object> };
  const young = { ...measured };
  for (const mode of ['interactive', 'bulk']) young[mode] = { ...measured[mode], seconds: 0 };
  expect(measuredSeconds(readFleet(told({ measured: young })))).toBe(0);
});

test('processes take so many chunks at once, at most', () => {
  const { plan } = readFleet(told());
  expect(mostChunks(plan)).toBe(40);
  expect(mostChunks(plan, ['bulk'])).toBe(36);
});

test('a fleet was used if anything was called in the time that is shown', () => {
  expect(wasUsed(readFleet(told()))).toBe(true);
  const still = told();
  const { measured } = still as { measured: { series: Record<string, unknown> } };
  measured.series.bulk = measured.series.interactive;
  expect(wasUsed(readFleet(still))).toBe(false);
});

describe('an answer of another form is refused where it comes in:', () => {
  test.each([
    ['no diagnosis', { diagnosis: undefined }],
    ['an unknown one', { diagnosis: { code: 'fine', words: '', help: [] } }],
    ['no figures', { measured: {} }],
    ['no plan', { plan: { fleetBound: 100 } }],
    ['a time that is none', { lines: [{ line: 'shared', quietUntil: 'soon' }] }],
  ])('%s', (_what, changes) => {
    expect(() => readFleet(told(changes))).toThrow(/^expected/);
  });
});
