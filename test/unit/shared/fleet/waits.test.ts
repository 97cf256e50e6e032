import { describe, expect, test } from 'vitest';
import type { Admission } from '../../../../shared/fleet/allowance.ts';
import { around, Fleet } from './fleet.ts';

// How one call comes to begin, or does not.

/** What has come of it. */
function watch(promise: Promise<Admission>): { admission?: Admission } {
  const watched: { admission?: Admission } = {};
  void promise.then((admission) => {
    watched.admission = admission;
  });
  return watched;
}

describe('a call that is larger than what a second brings', () => {
  // 20 calls and 10,000 tokens a second, 500 a slot.
  const settings = { requestsPerMinute: 1200, tokensPerMinute: 600_000 };

  test('saves up for it while the rest of its process waits, and others are not kept by it', async () => {
    const fleet = new Fleet(settings, 2);
    for (let index = 0; index < 4; index++)
      fleet.join({ gate: 8, tokens: () => 500, serviceMs: around(800, fleet.random) });
    const process = fleet.join({
      gate: 8,
      tokens: () => 500,
      serviceMs: around(800, fleet.random),
    });
    await fleet.pass(16);
    const asked = fleet.now;
    const large = watch(process.admit({ tokens: 30_000, withinMs: 60_000 }));
    let begunAt = 0;
    while (large.admission === undefined && fleet.now < asked + 60_000) {
      await fleet.pass(0.5);
      begunAt = fleet.now;
    }
    expect(large.admission?.kind).toBe('begin');
    // A fifth of the account is 2,000 tokens a second; while it waits it takes what others do not use.
    expect(begunAt - asked).toBeLessThan(25_000);
    const others = fleet.rate((begunAt - asked) / 1000, ({ process: id }) => id !== process.id);
    // Half of what is theirs, at least.
    expect(others).toBeGreaterThan(8);
    expect(fleet.tokensBeyond()).toBeLessThanOrEqual(30_000 + 4 * 500 + 500);
  });

  test('begins though its process is woken all the time', async () => {
    const fleet = new Fleet({ requestsPerMinute: 1200, tokensPerMinute: 120_000 });
    const process = fleet.join({ gate: 0 });
    const large = watch(process.admit({ tokens: 9000 }));
    // Between the seconds, too, when no slot is open.
    for (let step = 0; step < 400 && large.admission === undefined; step++) {
      void process.admit({ withinMs: 20 });
      await fleet.pass(0.05);
    }
    expect(large.admission?.kind).toBe('begin');
    expect(fleet.now % 60_000).toBeLessThan(9000);
  });

  test('leaves nothing behind when it is no longer wanted', async () => {
    const fleet = new Fleet({ requestsPerMinute: 1200, tokensPerMinute: 120_000 });
    const process = fleet.join({ gate: 0 });
    let wanted = true;
    const large = watch(process.admit({ tokens: 1_000_000, wanted: () => wanted }));
    await fleet.pass(30);
    wanted = false;
    await fleet.pass(1.2);
    expect(large.admission).toMatchObject({ kind: 'left', delayMs: 0 });
    const next = Array.from({ length: 300 }, () => watch(process.admit({ tokens: 1000 })));
    await fleet.pass(10);
    // 2,000 tokens a second, and one call that was saved for.
    const begun = next.filter(({ admission }) => admission?.kind === 'begin');
    expect(begun.length).toBeLessThanOrEqual(21);
    expect(begun.length).toBeGreaterThan(15);
  });
});

test('what a second did not use is not there in the next, whatever happens between them', async () => {
  // 20 calls and 20,000 tokens a second.
  const fleet = new Fleet({ requestsPerMinute: 1200, tokensPerMinute: 1_200_000 });
  const process = fleet.join({
    gate: 20,
    tokens: () => 10,
    serviceMs: () => 311,
    restMs: () => 37,
  });
  await fleet.pass(20);
  process.busy = false;
  await fleet.pass(1 - (fleet.now % 1000) / 1000);
  const began = fleet.now;
  const large = Array.from({ length: 60 }, () => watch(process.admit({ tokens: 10_000 })));
  await fleet.pass(4);
  const begun = large.filter(({ admission }) => admission?.kind === 'begin').length;
  // Two a second, the one that is saved for, and what is there of the second under way.
  expect(begun).toBeLessThanOrEqual(2 * Math.ceil((fleet.now - began) / 1000) + 1);
  expect(begun).toBeGreaterThan(5);
});

test('calls begin in the order in which they were asked for', async () => {
  const fleet = new Fleet({ requestsPerMinute: 600 });
  const process = fleet.join({ gate: 0 });
  const order: number[] = [];
  for (let call = 0; call < 12; call++) {
    void process.admit({ tokens: 12 - call }).then(() => {
      order.push(call);
    });
  }
  await fleet.pass(10);
  expect(order).toEqual(Array.from({ length: 12 }, (_, call) => call));
});

test('a call that is no longer wanted goes at once when it would begin, and soon when it waits', async () => {
  const fleet = new Fleet();
  const process = fleet.join({ gate: 0 });
  const never = watch(process.admit({ wanted: () => false }));
  await fleet.pass(0);
  expect(never.admission).toMatchObject({ kind: 'left', delayMs: 0 });
  let wanted = true;
  process.allowance.overloaded(30_000);
  const waiting = watch(process.admit({ wanted: () => wanted }));
  await fleet.pass(3.3);
  wanted = false;
  await fleet.pass(1.1);
  expect(waiting.admission).toMatchObject({ kind: 'left', delayMs: 0 });
});

test('what waited is told to the millisecond', async () => {
  const fleet = new Fleet({ requestsPerMinute: 600 });
  const process = fleet.join({ gate: 0 });
  const asked = fleet.now;
  const waits: number[] = [];
  for (let call = 0; call < 12; call++) {
    void process.admit().then(({ waited }) => {
      expect(waited).toMatchObject({ refusedMs: 0, yieldMs: 0 });
      expect(waited.allowanceMs).toBe(fleet.now - asked);
      waits.push(waited.allowanceMs);
    });
  }
  await fleet.pass(10);
  expect(waits).toHaveLength(12);
});

test('a call that is settled twice counts once', async () => {
  // Ten calls and 1,000 tokens a second.
  const fleet = new Fleet({ requestsPerMinute: 600, tokensPerMinute: 60_000 });
  const process = fleet.join({ gate: 0 });
  const first = watch(process.admit({ tokens: 1000 }));
  await fleet.pass(6);
  if (first.admission?.kind !== 'begin') throw new Error('it did not begin');
  const { settle } = first.admission;
  const next = Array.from({ length: 40 }, () => watch(process.admit({ tokens: 1000 })));
  const begun = () => next.filter(({ admission }) => admission !== undefined).length;
  await fleet.pass(4.3);
  const before = begun();
  for (let time = 0; time < 30; time++) settle(0);
  await fleet.pass(0.6);
  // The one that a second brings, and the one that was given back.
  expect(begun() - before).toBeLessThanOrEqual(2);
});

test('calls that nobody settles are forgotten, so that others have the lanes', async () => {
  const fleet = new Fleet({ frameSeconds: 2 });
  const cutOff = fleet.join({ gate: 0 });
  for (let call = 0; call < 40; call++) void cutOff.admit();
  await fleet.pass(400);
  const lanes = async () => {
    const before = (await fleet.line.read()).counts;
    void cutOff.admit();
    await fleet.pass(1);
    const after = (await fleet.line.read()).counts;
    const sum = (counts: ReadonlyMap<string, number>) =>
      [...counts].reduce(
        (all, [name, count]) =>
          Number(name.split('/')[1]) >= Math.floor((fleet.now - 1000) / fleet.frameMs)
            ? all + count
            : all,
        0,
      );
    return sum(after) - sum(before);
  };
  expect(await lanes()).toBeLessThanOrEqual(4);
});

describe('a process whose clock is off', () => {
  test.each([3_600_000, -3_600_000, 2500, 1500, -1500, 700, -700])(
    'by %i ms begins in its own seconds, and soon',
    async (ahead) => {
      const fleet = new Fleet({ frameSeconds: 6 });
      const { random } = fleet;
      await fleet.pass(0.37);
      fleet.join({ gate: 6, serviceMs: around(800, random) });
      const process = fleet.join({
        gate: 6,
        serviceMs: around(800, random),
        ahead,
        withinMs: 20_000,
      });
      await fleet.pass(20);
      const own = fleet.begun.filter((begun) => begun.process === process.id);
      const first = Math.min(...own.map(({ at }) => at));
      expect((first - fleet.now + 20_000) / 1000).toBeLessThan(12);
      expect(own.filter(({ at }) => at > fleet.now - 4000).length).toBeGreaterThan(15);
      // Of less than a second, it may take a while until an answer shows it.
      const off = own.filter(({ offMs }) => Math.abs(offMs) > 50);
      if (Math.abs(ahead) > 1000) expect(off).toEqual([]);
      expect(fleet.overdrawn()).toEqual([]);
      expect(fleet.left.filter(({ lateMs }) => lateMs > 3)).toEqual([]);
    },
  );

  test('is sent away in time while it is being probed', async () => {
    const fleet = new Fleet();
    fleet.join({ gate: 3, ahead: 5000, withinMs: 300 });
    await fleet.pass(4);
    expect(fleet.left.length).toBeGreaterThanOrEqual(3);
    // When the clock was ahead, one answer's time counts for nothing.
    expect(fleet.left.filter(({ lateMs }) => lateMs > 8)).toEqual([]);
  });

  test.each([-5000, 5000, -600_000])('from a moment on, by %i ms, recovers', async (set) => {
    const fleet = new Fleet({ frameSeconds: 2 });
    const { random } = fleet;
    const work = { gate: 6, serviceMs: around(800, random), withinMs: 30_000 };
    const process = fleet.join(work);
    await fleet.pass(10);
    process.ahead = set;
    await fleet.pass(30);
    expect(Math.abs(process.trueTime.now() - fleet.now)).toBeLessThan(50);
    expect(fleet.rate(4)).toBeGreaterThan(4);
    // While nothing says so yet, a second may be taken for another; not afterwards.
    const late = fleet.overdrawn().filter(({ second }) => second * 1000 > fleet.now - 15_000);
    expect(late).toEqual([]);
  });

  test('is probed for a while where the network is slow, and begins all the same', async () => {
    const fleet = new Fleet();
    fleet.storeMs = () => 300;
    const process = fleet.join({ gate: 4, ahead: 4000 });
    await fleet.pass(30);
    const probes = fleet.opsOf('read').length;
    expect(probes).toBe(6);
    expect(fleet.rate(5)).toBeGreaterThan(2);
    expect(Math.abs(process.trueTime.now() - fleet.now)).toBeLessThan(400);
  });
});

test('a process that was frozen begins nothing of what it had, and goes on', async () => {
  const fleet = new Fleet();
  const process = fleet.join({ gate: 10, serviceMs: around(800, fleet.random) });
  fleet.join({ gate: 10, serviceMs: around(800, fleet.random) });
  await fleet.pass(10.4);
  process.freeze(300_000);
  await fleet.pass(300);
  const thawed = fleet.now;
  await fleet.pass(10);
  const own = fleet.begun.filter(
    (begun) => begun.process === process.id && begun.at > thawed - 1000,
  );
  expect(own.filter(({ at }) => at < thawed)).toEqual([]);
  expect(own.filter(({ at }) => at > fleet.now - 4000).length).toBeGreaterThan(20);
  expect(fleet.overdrawn()).toEqual([]);
});
