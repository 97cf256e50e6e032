import fc from 'fast-check';
import { expect, test } from 'vitest';
import { around, Fleet, type FleetProcess } from './fleet.ts';

// What must never be exceeded, whatever happens to the processes and to what they share.

const SECONDS = 24;

const moments = fc.integer({ min: 0, max: SECONDS * 1000 });

const processes = fc.array(
  fc.record({
    mode: fc.constantFrom('interactive' as const, 'bulk' as const),
    joinsAt: fc.integer({ min: 0, max: 12_000 }),
    gate: fc.integer({ min: 1, max: 6 }),
    serviceMs: fc.integer({ min: 20, max: 3000 }),
    restMs: fc.constantFrom(0, 0, 700),
    withinMs: fc.constantFrom(1500, 8000, 60_000),
    fate: fc.constantFrom('stays', 'killed', 'frozen', 'frozen'),
    fateAt: moments,
    frozenMs: fc.integer({ min: 10, max: 9000 }),
  }),
  { minLength: 2, maxLength: 8 },
);

const disturbances = fc.array(
  fc.record({
    at: moments,
    kind: fc.constantFrom('failing', 'hanging', 'refused', 'felt', 'overloaded', 'yield'),
    process: fc.nat(),
    ms: fc.integer({ min: 1, max: 4000 }),
  }),
  { maxLength: 5 },
);

const scenarios = fc.record({
  seed: fc.nat(),
  settings: fc.record({
    requestsPerMinute: fc.constantFrom(1, 7, 60, 90, 250, 600, 1800, 1800, 3000),
    tokensPerMinute: fc.constantFrom(null, 1000, 20_000, 300_000),
    interactiveShare: fc.constantFrom(0, 0.3, 0.9),
    frameSeconds: fc.integer({ min: 2, max: 7 }),
  }),
  /** Of a call, at most. */
  tokens: fc.constantFrom(10, 200, 3000),
  /** The part of it that is used: more than estimated, too. */
  used: fc.constantFrom(1, 0.4, 1.2),
  storeMs: fc.constantFrom(4, 60, 700),
  processes,
  disturbances,
});

type Scenario = typeof scenarios extends fc.Arbitrary<infer Value> ? Value : never;

async function play(scenario: Scenario): Promise<Fleet> {
  const fleet = new Fleet(scenario.settings, scenario.seed);
  const { random } = fleet;
  fleet.storeMs = () => 1 + random() * scenario.storeMs;
  const after = (ms: number, action: () => void) => void fleet.time.sleep(ms).then(action);
  const joined: FleetProcess[] = [];
  for (const process of scenario.processes) {
    after(process.joinsAt, () => {
      const one = fleet.join({
        ...process,
        serviceMs: around(process.serviceMs, random),
        restMs: () => process.restMs * random(),
        tokens: () => Math.ceil(scenario.tokens * (0.2 + 0.8 * random())),
        used: (tokens) => Math.round(tokens * scenario.used),
      });
      joined.push(one);
      after(process.fateAt, () => {
        if (process.fate === 'killed') one.kill();
        if (process.fate === 'frozen') one.freeze(process.frozenMs);
      });
    });
  }
  for (const { at, kind, process, ms } of scenario.disturbances) {
    after(at, () => {
      const allowance = joined[process % joined.length]?.allowance;
      if (kind === 'refused') allowance?.refused(ms, true);
      if (kind === 'felt') allowance?.refused(undefined, false);
      if (kind === 'overloaded') allowance?.overloaded(ms);
      if (kind === 'yield') allowance?.yield(ms);
      if (kind !== 'failing' && kind !== 'hanging') return;
      fleet.weather = kind;
      after(ms, () => {
        fleet.weather = 'fine';
      });
    });
  }
  await fleet.pass(SECONDS);
  return fleet;
}

test('no second has more calls, no time more tokens, no process more in flight, whatever happens', async () => {
  let calls = 0;
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const fleet = await play(scenario);
      calls += fleet.begun.length;
      expect(fleet.overdrawn()).toEqual([]);
      // One call a process may begin on what it saved, and a second has one slot more than another.
      const { tokensPerMinute, requestsPerMinute } = scenario.settings;
      const slack = scenario.tokens * scenario.processes.length;
      const slot = (tokensPerMinute ?? 0) / requestsPerMinute;
      expect(fleet.tokensBeyond()).toBeLessThanOrEqual(slack + slot + 1);
      const gates = fleet.mostInFlight.map((most, id) => most <= (fleet.works[id]?.gate ?? 0));
      expect(gates).not.toContain(false);
    }),
    { numRuns: 60 },
  );
  expect(calls).toBeGreaterThan(500);
});

test('nobody waits longer than it can, and whoever is sent away knows when to come back', async () => {
  let left = 0;
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      // A process that is frozen cannot even say that it is too late.
      const processes = scenario.processes.map((process) => ({ ...process, frozenMs: 0 }));
      const fleet = await play({ ...scenario, processes });
      left += fleet.left.length;
      expect(fleet.left.filter(({ lateMs }) => lateMs > 3)).toEqual([]);
      expect(fleet.left.filter(({ delayMs }) => delayMs < 250)).toEqual([]);
      const tooLate = fleet.begun.filter(({ process, waitedMs }) => {
        return waitedMs > (fleet.works[process]?.withinMs ?? 0);
      });
      expect(tooLate).toEqual([]);
    }),
    { numRuns: 40 },
  );
  expect(left).toBeGreaterThan(50);
});

test.each([
  // Calls and tokens a minute; processes × gate; seconds of a frame; what decides.
  [1800, null, 8, 6, 3, 'requests'],
  [1800, null, 60, 3, 3, 'requests'],
  [600, null, 5, 3, 4, 'requests'],
  [60, null, 3, 4, 10, 'requests'],
  [90, null, 3, 4, 6, 'requests'],
  [3000, 900_000, 8, 5, 4, 'tokens'],
  [600, 100_000, 6, 4, 4, 'tokens'],
  [3000, 2_000_000, 8, 10, 4, 'requests, and tokens nearly'],
] as const)(
  'of %i calls and %s tokens a minute all are used: %i × %i, frames of %i s, %s',
  async (...[requestsPerMinute, tokensPerMinute, count, gate, frameSeconds]) => {
    const fleet = new Fleet({ requestsPerMinute, tokensPerMinute, frameSeconds }, 7);
    for (let index = 0; index < count; index++) {
      const tokens = () => 400 + Math.floor(fleet.random() * 400);
      fleet.join({ gate, tokens, serviceMs: around(800, fleet.random) });
    }
    const seconds = requestsPerMinute < 1000 ? 200 : 20;
    await fleet.pass(24 * Math.ceil(fleet.frameMs / 4000));
    await fleet.pass(seconds);
    const since = fleet.now - seconds * 1000;
    const begun = fleet.begun.filter(({ at }) => at >= since);
    const tokens = begun.reduce((sum, call) => sum + call.tokens, 0);
    const parts = [
      (begun.length * 60) / seconds / requestsPerMinute,
      (tokens * 60) / seconds / (tokensPerMinute ?? Infinity),
    ];
    expect(Math.max(...parts)).toBeGreaterThan(0.97);
    expect(fleet.overdrawn()).toEqual([]);
  },
);

test('what calls turn out not to need is used by others', async () => {
  const fleet = new Fleet({ requestsPerMinute: 3000, tokensPerMinute: 900_000 }, 7);
  for (let index = 0; index < 8; index++)
    fleet.join({
      gate: 5,
      tokens: () => 600,
      used: () => 400,
      serviceMs: around(800, fleet.random),
    });
  await fleet.pass(12);
  await fleet.pass(20);
  // 25 calls a second by what they reserve, 37.5 by what they use.
  expect(fleet.rate(20)).toBeGreaterThan(33);
  expect(fleet.rate(20)).toBeLessThan(37.6);
});
