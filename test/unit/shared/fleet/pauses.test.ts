import { describe, expect, test } from 'vitest';
import { around, type Begun, Fleet, type FleetProcess } from './fleet.ts';

// What makes processes rest: refusals, with and without a word of when to come back, and other callers.

function busyFleet(count = 5, settings: ConstructorParameters<typeof Fleet>[0] = {}, seed = 3) {
  const fleet = new Fleet(settings, seed);
  const joined: FleetProcess[] = [];
  for (let index = 0; index < count; index++)
    joined.push(fleet.join({ gate: 10, serviceMs: around(800, fleet.random) }));
  return { fleet, joined, first: joined[0] as FleetProcess };
}

const beganIn =
  (from: number, to: number) =>
  ({ at }: Begun) =>
    at >= from && at < to;

describe('after a refusal', () => {
  test('its process begins nothing before the time, the others from their next look on', async () => {
    const { fleet, first } = busyFleet();
    await fleet.pass(12);
    const until = fleet.now + 15_000;
    const known = fleet.now + fleet.frameMs;
    first.allowance.refused(15_000, true);
    const began = fleet.begun.length;
    await fleet.pass(25);
    const after = fleet.begun.slice(began);
    expect(after.filter(({ at, process }) => process === 0 && at < until)).toEqual([]);
    expect(after.filter(beganIn(known, until))).toEqual([]);
    expect(after.filter(beganIn(until, until + 3000)).length).toBeGreaterThan(30);
    expect(fleet.rate(5)).toBeGreaterThan(29);
    expect((await fleet.line.read()).quietUntil).toBe(until);
  });

  test('all come back, but not at the same moment', async () => {
    const { fleet, joined } = busyFleet(10);
    await fleet.pass(12);
    const until = fleet.now - (fleet.now % 1000) + 10_000;
    for (const { allowance } of joined) allowance.refused(until - fleet.now, true);
    await fleet.pass(14);
    const firsts = joined.map(
      ({ id }) => fleet.begun.find(({ at, process }) => process === id && at >= until)?.at ?? 0,
    );
    expect(Math.min(...firsts)).toBeGreaterThanOrEqual(until);
    expect(Math.max(...firsts) - Math.min(...firsts)).toBeGreaterThan(400);
    // A tenth of a second has three slots; without the jitter ten processes would fill the first.
    expect(firsts.filter((at) => at < until + 200).length).toBeLessThan(6);
  });

  test('of many calls at once the store is told once, of a later time again', async () => {
    const { fleet, first } = busyFleet(1);
    await fleet.pass(5);
    for (let call = 0; call < 20; call++) first.allowance.refused(5000 + call, true);
    expect(fleet.opsOf('quiet')).toHaveLength(1);
    first.allowance.refused(9000, true);
    expect(fleet.opsOf('quiet')).toHaveLength(2);
  });

  test('without a word, a second is rested, and a part of the account is left', async () => {
    const { fleet, first } = busyFleet();
    await fleet.pass(12);
    const now = fleet.now;
    first.allowance.refused(undefined, false);
    await fleet.pass(1);
    expect(fleet.begun.filter(({ at, process }) => process === 0 && at > now)).toEqual([]);
    expect(await fleet.line.read()).toMatchObject({
      quietUntil: now + 1000,
      cut: { to: 0.8, at: now },
    });
    await fleet.pass(9);
    const cut = fleet.rate(5);
    // Down to 0.8, and up by half a hundredth a second since.
    expect(cut / 30).toBeGreaterThan(0.76);
    expect(cut / 30).toBeLessThan(0.87);
    await fleet.pass(35);
    expect(fleet.rate(5)).toBeGreaterThan(29);
    expect(fleet.overdrawn()).toEqual([]);
  });

  test('of all at once the account is cut once', async () => {
    const { fleet, joined } = busyFleet();
    await fleet.pass(12);
    for (const { allowance } of joined) allowance.refused(undefined, false);
    await fleet.pass(0.5);
    for (const { allowance } of joined) allowance.refused(undefined, false);
    await fleet.pass(0.5);
    expect((await fleet.line.read()).cut?.to).toBe(0.8);
    expect(fleet.opsOf('cut')).toHaveLength(5);
  });

  test('the account is cut again while refusals go on, and never to nothing', async () => {
    const { fleet, first } = busyFleet();
    for (let round = 0; round < 30; round++) {
      await fleet.pass(3);
      first.allowance.refused(undefined, false);
    }
    await fleet.pass(1);
    expect((await fleet.line.read()).cut?.to).toBeLessThan(0.1);
    expect((await fleet.line.read()).cut?.to).toBeGreaterThanOrEqual(0.02);
    const began = fleet.begun.length;
    await fleet.pass(6);
    expect(fleet.begun.length).toBeGreaterThan(began);
  });

  test('whose answers tell what remains, nothing is cut', async () => {
    const { fleet, first } = busyFleet();
    await fleet.pass(6);
    first.allowance.refused(undefined, true);
    await fleet.pass(1);
    expect(fleet.opsOf('cut')).toEqual([]);
  });

  test('a cut that the store did not yet know of holds in its process', async () => {
    const { fleet, first } = busyFleet(1, { requestsPerMinute: 600 });
    await fleet.pass(6);
    // The write of the cut is under way; what the store says is older.
    fleet.line.cut = async () => {};
    for (let round = 0; round < 4; round++) {
      first.allowance.refused(undefined, false);
      await fleet.pass(3);
    }
    expect((await fleet.line.read()).cut).toBeUndefined();
    await fleet.pass(4);
    expect(fleet.rate(4)).toBeLessThan(6.1);
  });

  test('those wait no longer who could not begin before the time, and they know it', async () => {
    const fleet = new Fleet();
    const process = fleet.join({ gate: 0 });
    process.allowance.refused(30_000, true);
    const admission = await settled(fleet, process.admit({ withinMs: 20_000 }));
    expect(admission).toMatchObject({ kind: 'left' });
    if (admission?.kind === 'left') {
      expect(admission.delayMs).toBeGreaterThanOrEqual(30_000);
      expect(admission.delayMs).toBeLessThanOrEqual(31_010);
    }
  });
});

test('where the provider has no room, its process rests, and the account is as it was', async () => {
  const { fleet, first } = busyFleet(2);
  await fleet.pass(6);
  const now = fleet.now;
  first.allowance.overloaded(3000);
  await fleet.pass(10);
  const during = fleet.begun.filter(beganIn(now + 1, now + 3000));
  expect(during.filter(({ process }) => process === 0)).toEqual([]);
  expect(during.length).toBeGreaterThan(10);
  expect(fleet.ops.filter(({ name }) => name !== 'take')).toEqual([]);
});

describe('to callers that are not seen', () => {
  test('bulk work gives way, and interactive work does not', async () => {
    const { fleet, first } = busyFleet(4);
    const watched = fleet.join({ mode: 'interactive', gate: 3 });
    await fleet.pass(12);
    const now = fleet.now;
    first.allowance.yield(8000);
    watched.allowance.yield(60_000);
    await fleet.pass(20);
    const bulk = ({ mode }: Begun) => mode === 'bulk';
    const during = fleet.begun.filter(beganIn(now + fleet.frameMs, now + 8000));
    expect(during.filter(bulk)).toEqual([]);
    expect(during.length).toBeGreaterThan(10);
    const own = fleet.begun.filter(beganIn(now + 1, now + 8000));
    expect(own.filter(({ process }) => process === 0)).toEqual([]);
    expect(fleet.rate(5, bulk)).toBeGreaterThan(19);
    expect(fleet.opsOf('yield')).toHaveLength(1);
  });

  test('who yields for a little longer tells nobody, and who need not yield does not', async () => {
    const { fleet, first } = busyFleet(1);
    await fleet.pass(3);
    first.allowance.yield(0);
    first.allowance.yield(-5);
    expect(fleet.opsOf('yield')).toHaveLength(0);
    for (let call = 0; call < 20; call++) first.allowance.yield(4000 + call);
    expect(fleet.opsOf('yield')).toHaveLength(1);
  });
});

test('what a call waited for is told apart', async () => {
  const fleet = new Fleet();
  const process = fleet.join({ gate: 0 });
  await fleet.pass(1.5);
  process.allowance.overloaded(4000);
  process.allowance.yield(9000);

  const admission = await settled(fleet, process.admit());
  if (admission?.kind !== 'begin') throw new Error('it did not begin');
  const { refusedMs, yieldMs, allowanceMs } = admission.waited;
  // The rest after a refusal is up to a second longer than it must.
  expect(refusedMs).toBeGreaterThanOrEqual(4000);
  expect(refusedMs).toBeLessThan(6000);
  expect(yieldMs).toBeGreaterThan(3000);
  expect(yieldMs).toBeLessThan(5500);
  expect(allowanceMs).toBeLessThan(1500);
});

/** What comes of it within a minute. */
async function settled<Result>(
  fleet: Fleet,
  promise: Promise<Result>,
): Promise<Result | undefined> {
  let result: Result | undefined;
  void promise.then((value) => {
    result = value;
  });
  await fleet.pass(60);
  return result;
}
