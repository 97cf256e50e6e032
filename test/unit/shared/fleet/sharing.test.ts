import fc from 'fast-check';
import { expect, test } from 'vitest';
import { layOut, slotsIn } from '../../../../shared/fleet/lanes.ts';
import { around, type Begun, Fleet } from './fleet.ts';

// Bulk work wants all there is; interactive work comes, and stays inside its share.

const GATE = 3;

const scenarios = fc.record({
  seed: fc.nat(),
  requestsPerMinute: fc.constantFrom(1500, 2400),
  frameSeconds: fc.integer({ min: 2, max: 5 }),
  bulk: fc.integer({ min: 2, max: 8 }),
  interactive: fc.integer({ min: 1, max: 2 }),
  /** Of a frame, when interactive work comes. */
  phase: fc.integer({ min: 0, max: 99 }),
  /** When another process of bulk work begins, which has heard nothing. Milliseconds after that. */
  newcomerMs: fc.integer({ min: 0, max: 15_000 }),
});

async function play(scenario: typeof scenarios extends fc.Arbitrary<infer Value> ? Value : never) {
  const { requestsPerMinute, frameSeconds, bulk, interactive, phase, newcomerMs, seed } = scenario;
  const fleet = new Fleet({ requestsPerMinute, frameSeconds }, seed);
  const { random, frameMs } = fleet;
  const work = { gate: 12, serviceMs: around(800, random) };
  for (let index = 0; index < bulk; index++) fleet.join(work);
  await fleet.pass((frameMs * (3 + phase / 100)) / 1000);
  const arrived = fleet.now;
  void fleet.time.sleep(newcomerMs).then(() => fleet.join(work));
  // Half of its share: 0.15 of all, from so many places.
  const cycleMs = (interactive * GATE * 60_000) / (requestsPerMinute * 0.15);
  const restMs = () => Math.max(0, cycleMs - 800) * 2 * random();
  const serviceMs = around(800, random);
  for (let index = 0; index < interactive; index++)
    fleet.join({ mode: 'interactive', gate: GATE, serviceMs, restMs });
  await fleet.pass(20);
  return { fleet, arrived, frameMs };
}

const isInteractive = ({ mode }: Begun) => mode === 'interactive';

test('interactive work inside its share waits two frames when it comes, then for its own calls at most; bulk work keeps out of its lanes and uses all the others', async () => {
  let waited = 0;
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const { fleet, arrived, frameMs } = await play(scenario);
      const calls = fleet.begun.filter(isInteractive);
      const late = calls.filter(({ at, waitedMs }) => at - waitedMs >= arrived + 2 * frameMs);
      const most = (of: readonly Begun[]) => Math.max(0, ...of.map(({ waitedMs }) => waitedMs));
      waited = Math.max(waited, most(calls));
      expect(most(calls)).toBeLessThanOrEqual(2 * frameMs);
      // A process that has one lane has one slot a second, and its calls wait for one another.
      expect(most(late)).toBeLessThanOrEqual((GATE + 1) * 1000);

      const { lanes } = layOut(fleet.settings);
      const begun = fleet.bySecond((call) => !isInteractive(call));
      const from = Math.ceil((arrived + 2 * frameMs) / 1000);
      const seconds = Array.from(
        { length: fleet.now / 1000 - 1 - from },
        (_, index) => from + index,
      );
      const parts = seconds.map((second) => ({
        calls: begun.get(second) ?? 0,
        slots: slotsIn(second, fleet.settings.requestsPerMinute) - lanes.interactive,
      }));
      expect(parts.filter(({ calls, slots }) => calls > slots)).toEqual([]);
      const sum = (of: 'calls' | 'slots') => parts.reduce((all, part) => all + part[of], 0);
      // Of the rest interactive work takes what a burst of it needs.
      expect(sum('calls') / sum('slots')).toBeGreaterThan(0.7);
      expect(fleet.overdrawn()).toEqual([]);
    }),
    { numRuns: 12 },
  );
  expect(waited).toBeGreaterThan(1000);
});

test('bulk work takes the share again when interactive work has gone', async () => {
  const fleet = new Fleet();
  const { random } = fleet;
  for (let index = 0; index < 5; index++) fleet.join({ gate: 10, serviceMs: around(800, random) });
  const watched = fleet.join({ mode: 'interactive', gate: 2 });
  await fleet.pass(20);
  expect(fleet.rate(5, (call) => !isInteractive(call))).toBeCloseTo(21, 0);
  watched.busy = false;
  await fleet.pass(20);
  expect(fleet.rate(5)).toBeGreaterThan(29);
});

test('interactive work takes more than its share where nobody else wants it', async () => {
  const fleet = new Fleet();
  const { random } = fleet;
  for (let index = 0; index < 5; index++)
    fleet.join({ mode: 'interactive', gate: 10, serviceMs: around(800, random) });
  await fleet.pass(15);
  expect(fleet.rate(5)).toBeGreaterThan(29);
});

test('whoever watches a burst after a rest of some seconds has it in the share at once', async () => {
  const fleet = new Fleet();
  const { random } = fleet;
  for (let index = 0; index < 5; index++) fleet.join({ gate: 10, serviceMs: around(800, random) });
  const watched = fleet.join({ mode: 'interactive', gate: 0 });
  const waits: number[] = [];
  for (let burst = 0; burst < 6; burst++) {
    const began = fleet.now;
    for (let call = 0; call < 8; call++) {
      void watched.admit().then((admission) => {
        if (admission.kind !== 'begin') return;
        if (burst > 1) waits.push(fleet.now - began);
        void fleet.time.sleep(500).then(() => admission.settle(1));
      });
    }
    await fleet.pass(9);
  }
  expect(waits).toHaveLength(4 * 8);
  expect(Math.max(...waits)).toBeLessThanOrEqual(1000);
});

test('of an account of its own, bulk work uses all, whoever watches', async () => {
  const fleet = new Fleet({ line: 'bulk' });
  const { random } = fleet;
  for (let index = 0; index < 5; index++) fleet.join({ gate: 10, serviceMs: around(800, random) });
  await fleet.line.take([], { interactiveAt: fleet.now + 60_000, outdated: [] });
  await fleet.pass(12);
  expect(fleet.rate(5)).toBeGreaterThan(29);
});

test('bulk work has all of the account again three frames after interactive work that took all of it has gone', async () => {
  const fleet = new Fleet({ requestsPerMinute: 1500, frameSeconds: 4 });
  for (let index = 0; index < 6; index++) fleet.join({ gate: 8 });
  const watched = [0, 1].map(() => fleet.join({ mode: 'interactive', gate: 40 }));
  await fleet.pass(60);
  expect(fleet.rate(12, isInteractive)).toBeGreaterThan(22);
  for (const process of watched) process.busy = false;
  // Ten seconds for which it counts as there, and three frames.
  await fleet.pass(10 + 3 * 4);
  await fleet.pass(8);
  expect(fleet.rate(8)).toBeGreaterThan(0.95 * 25);
});

test('processes of the same kind have the same part of a full account, whoever came first', async () => {
  const fleet = new Fleet({ requestsPerMinute: 6000, frameSeconds: 3 });
  const work = { gate: 8, serviceMs: around(800, fleet.random) };
  for (let index = 0; index < 20; index++) fleet.join(work);
  await fleet.pass(9);
  for (let index = 0; index < 5; index++) fleet.join(work);
  await fleet.pass(9);
  const calls = fleet.begun.length;
  await fleet.pass(30);
  expect(fleet.rate(30)).toBeGreaterThan(99);
  const counts = Array.from({ length: 25 }, () => 0);
  for (const { process } of fleet.begun.slice(calls)) counts[process] = (counts[process] ?? 0) + 1;
  // 120 each.
  expect(Math.min(...counts)).toBeGreaterThan(80);
  expect(Math.max(...counts)).toBeLessThan(160);
});

test('of an account that processes join and leave all the time, no more is lost than what each that ends has left of a frame', async () => {
  const fleet = new Fleet({ requestsPerMinute: 6000, frameSeconds: 3 });
  const work = { gate: 8, serviceMs: around(800, fleet.random) };
  const present = Array.from({ length: 20 }, () => fleet.join(work));
  await fleet.pass(9);
  const calls = fleet.begun.length;
  // Not in step with the frames.
  for (let turn = 0; turn < 30; turn++) {
    present.splice(Math.floor(fleet.random() * present.length), 1)[0]?.kill();
    await fleet.pass(0.5);
    present.push(fleet.join(work));
    await fleet.pass(2.67);
  }
  // Half of a frame and a part of the next, of five lanes, each 3.17 seconds.
  const used = (fleet.begun.length - calls) / (30 * 3.17 * 100);
  expect(used).toBeGreaterThan(0.963);
  expect(fleet.overdrawn()).toEqual([]);
});
