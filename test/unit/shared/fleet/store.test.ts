import { describe, expect, test } from 'vitest';
import { around, Fleet } from './fleet.ts';

// What the one item of an account is asked, and what follows when it does not answer.

function busyFleet(
  count: number,
  gate: number,
  settings: ConstructorParameters<typeof Fleet>[0] = {},
): Fleet {
  const fleet = new Fleet(settings, 5);
  for (let index = 0; index < count; index++)
    fleet.join({ gate, serviceMs: around(800, fleet.random) });
  return fleet;
}

describe.each(['failing', 'hanging'] as const)('while the store is %s', (weather) => {
  test('nothing begins beyond the lanes there are, it is asked now and then, and all goes on afterwards', async () => {
    const fleet = busyFleet(5, 10);
    await fleet.pass(12);
    fleet.weather = weather;
    const from = fleet.now;
    await fleet.pass(20);
    const frames = 2 * fleet.frameMs;
    expect(fleet.begun.filter(({ at }) => at > from + frames)).toEqual([]);
    const asks = fleet.ops.filter(({ at }) => at > from + frames);
    expect(asks.length).toBeGreaterThan(10);
    // Each process once in half a second to one and a half.
    expect(asks.length).toBeLessThan(5 * 16 * 2);
    expect(fleet.storeErrors.length).toBeGreaterThan(10);

    fleet.weather = 'fine';
    await fleet.pass(4 + fleet.frameMs / 1000);
    await fleet.pass(4);
    expect(fleet.rate(4)).toBeGreaterThan(28);
    expect(fleet.overdrawn()).toEqual([]);
  });

  test('lanes are asked for again until there are some, also in a long frame', async () => {
    const fleet = new Fleet({ frameSeconds: 30 });
    fleet.join({ gate: 5 });
    fleet.weather = weather;
    await fleet.pass(12);
    fleet.weather = 'fine';
    await fleet.pass(6);
    expect(fleet.rate(2)).toBeGreaterThan(4);
  });

  test('who waits is sent away in time', async () => {
    const fleet = new Fleet();
    fleet.weather = weather;
    fleet.join({ gate: 4, withinMs: 5000 });
    await fleet.pass(60);
    expect(fleet.begun).toEqual([]);
    expect(fleet.left.length).toBeGreaterThan(20);
    expect(fleet.left.filter(({ lateMs }) => lateMs > 3)).toEqual([]);
  });

  test('a clock that is off is probed again and again, and nothing begins by it', async () => {
    const fleet = new Fleet();
    const process = fleet.join({ gate: 3, ahead: 5000 });
    await fleet.pass(0.5);
    fleet.weather = weather;
    await fleet.pass(40);
    expect(fleet.begun).toEqual([]);
    fleet.weather = 'fine';
    await fleet.pass(16);
    expect(process.allowance.storeOps).toBeGreaterThan(15);
    expect(fleet.begun.filter(({ offMs }) => Math.abs(offMs) > 50)).toEqual([]);
    expect(fleet.rate(5)).toBeGreaterThan(2);
  });
});

test('an answer that comes too late gives nothing, and nothing twice', async () => {
  const fleet = busyFleet(4, 10);
  await fleet.pass(8);
  fleet.storeMs = () => 3500;
  await fleet.pass(20);
  expect(fleet.storeErrors.length).toBeGreaterThan(5);
  expect(String(fleet.storeErrors[0])).toContain('within 3000 ms, got none');
  fleet.storeMs = () => 5;
  await fleet.pass(12);
  expect(fleet.overdrawn()).toEqual([]);
  expect(fleet.rate(4)).toBeGreaterThan(28);
});

describe('operations', () => {
  test.each([
    // Calls a minute, processes × gate, and the frame that the plan gives: 15 calls a block.
    [1800, 5, 10, 3],
    [6000, 15, 10, 3],
    [6000, 20, 10, 3],
    [600, 3, 5, 5],
  ])(
    'are a tenth of the calls at most: %i calls a minute, %i × %i, frames of %i s',
    async (requestsPerMinute, count, gate, frameSeconds) => {
      expect(frameSeconds).toBe(Math.max(2, Math.ceil((15 * count * 60) / requestsPerMinute)));
      const fleet = busyFleet(count, gate, { requestsPerMinute, frameSeconds });
      await fleet.pass(frameSeconds * 2);
      const [ops, calls] = [fleet.ops.length, fleet.begun.length];
      await fleet.pass(frameSeconds * 4);
      expect((fleet.ops.length - ops) / (fleet.begun.length - calls)).toBeLessThanOrEqual(0.1);
    },
  );

  test('of 200 processes that find nothing left are one or two a frame each', async () => {
    const fleet = busyFleet(200, 3, { requestsPerMinute: 600, frameSeconds: 4 });
    await fleet.pass(8);
    const before = fleet.ops.length;
    await fleet.pass(12);
    expect((fleet.ops.length - before) / 200 / 3).toBeLessThanOrEqual(2);
    expect(fleet.rate(12)).toBeGreaterThan(9.7);
  });

  // The item takes 1,000 writes a second. Asks grow with processes ÷ frame, not with calls: with a gate
  // of 20 and calls of 800 ms, 100,000 calls a minute are 100 processes with 1.5 of headroom, and about
  // 1.3 asks a frame of 2 s each, 65 a second. With frames of 8 s the item would do for 6,000 processes.
  test('of 100,000 calls a minute are far from what one item takes', async () => {
    const fleet = busyFleet(100, 20, { requestsPerMinute: 100_000, frameSeconds: 2 });
    await fleet.pass(8);
    const before = fleet.ops.length;
    await fleet.pass(2);
    expect((fleet.ops.length - before) / 2).toBeLessThan(100);
    expect(fleet.rate(2) / (100_000 / 60)).toBeGreaterThan(0.95);
    expect(fleet.overdrawn()).toEqual([]);
  });

  test('are counted as the store has them', async () => {
    const fleet = new Fleet();
    const process = fleet.join({ gate: 4, ahead: 3000 });
    await fleet.pass(8);
    process.allowance.refused(undefined, false);
    process.allowance.yield(1000);
    await fleet.pass(1);
    expect(fleet.opsOf('read').length).toBeGreaterThan(2);
    expect(process.allowance.storeOps).toBe(fleet.ops.length);
  });

  test('are none while nobody waits', async () => {
    const fleet = new Fleet();
    const process = fleet.join({ gate: 4 });
    await fleet.pass(5);
    process.busy = false;
    await fleet.pass(3);
    const before = fleet.ops.length;
    await fleet.pass(60);
    expect(fleet.ops).toHaveLength(before);
  });
});

test('what processes leave behind when they are killed is removed by the others', async () => {
  const fleet = busyFleet(3, 5);
  for (let round = 0; round < 12; round++) {
    const process = fleet.join({ gate: 3, mode: round % 2 === 0 ? 'bulk' : 'interactive' });
    await fleet.pass(1.7);
    process.kill();
  }
  await fleet.pass(6);
  const frame = Math.floor(fleet.now / fleet.frameMs);
  const frames = [...(await fleet.line.read()).counts.keys()].map((name) =>
    Number(name.split('/')[1]),
  );
  expect(frames.filter((of) => of < frame - 3)).toEqual([]);
  expect(frames.length).toBeLessThanOrEqual(10);
});
