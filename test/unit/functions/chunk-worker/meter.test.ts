import { expect, test } from 'vitest';
import { createMeter } from '../../../../functions/chunk-worker/meter.ts';
import type { Usage } from '../../../../shared/fleet/usage-item.ts';

/** The beginning of an item. */
const START = 1_800_000_000_000;

function metered(random = 0) {
  const clock = { now: START, ops: 0, fails: false };
  const written: [usage: Usage, at: number][] = [];
  const errors: unknown[] = [];
  const meter = createMeter({
    write: async (usage, at) => {
      if (clock.fails) throw new Error('not now');
      written.push([usage, (at - START) / 1000]);
    },
    storeOps: () => clock.ops,
    now: () => clock.now,
    random: () => random,
    onError: (error) => errors.push(error),
  });
  const answer = () => meter.answered(800, { inputTokens: 1, outputTokens: 1 });
  const told = () => written.map(([{ calls, processes }, at]) => [at, calls, processes]);
  return { clock, written, told, errors, meter, answer };
}

const waits = { gateMs: 1, allowanceMs: 2, yieldMs: 3, refusedMs: 4 };

test('what a process did is added up and written once', async () => {
  const { clock, written, meter } = metered();
  meter.answered(800, { inputTokens: 300, outputTokens: 50 });
  meter.answered(700, { inputTokens: 200, outputTokens: 40 });
  meter.erred(100, true);
  meter.erred(200, false);
  meter.waited(waits);
  clock.ops = 3;
  await meter.writeAll(0);
  await meter.writeAll(0);
  expect(written).toEqual([
    [
      {
        calls: 4,
        refused: 1,
        failed: 1,
        inputTokens: 500,
        outputTokens: 90,
        serviceMs: 1800,
        ...waits,
        processes: 1,
        // The writing itself is one.
        storeOps: 4,
      },
      0,
    ],
  ]);
});

test('an item has what was done in its time, and is written once that is over', async () => {
  const { clock, written, told, meter, answer } = metered();
  for (let second = 0; second < 25; second++) {
    answer();
    await meter.writeWhole();
    clock.now += 1000;
  }
  expect(told()).toEqual([
    [0, 10, 1],
    [10, 10, 1],
  ]);
  await meter.writeAll(0);
  expect(told().at(-1)).toEqual([20, 5, 1]);
  const ops = written.reduce((all, [{ storeOps }]) => all + storeOps, 0);
  expect(ops).toBe(written.length);
});

test('processes do not write all at the same moment, and none is later than a second', async () => {
  const { clock, told, meter, answer } = metered(0.9);
  answer();
  clock.now += 10_800;
  await meter.writeWhole();
  expect(told()).toEqual([]);
  clock.now += 200;
  await meter.writeWhole();
  expect(told()).toEqual([[0, 1, 1]]);
});

test('at the end of an invocation the rest is written, if the last time was a while ago', async () => {
  const { clock, told, meter, answer } = metered();
  clock.now += 9000;
  answer();
  clock.now += 2000;
  answer();
  await meter.writeAll(3000);
  expect(told()).toEqual([
    [0, 1, 1],
    [10, 1, 1],
  ]);
  clock.now += 2000;
  answer();
  await meter.writeAll(3000);
  expect(told()).toHaveLength(2);
  clock.now += 1000;
  await meter.writeAll(3000);
  // The process is in that item already.
  expect(told().at(-1)).toEqual([10, 1, 0]);
});

test('rows that only wait are told of too', async () => {
  const { clock, written, meter } = metered();
  meter.waited({ ...waits, yieldMs: 9000 });
  clock.now += 10_000;
  await meter.writeWhole();
  expect(written[0]?.[0]).toMatchObject({ calls: 0, yieldMs: 9000, processes: 1 });
  meter.waited({ gateMs: 0, allowanceMs: 0, yieldMs: 0, refusedMs: 0 });
  await meter.writeAll(0);
  expect(written).toHaveLength(1);
});

test('a write that fails is told of and disturbs nobody', async () => {
  const { clock, told, errors, meter, answer } = metered();
  answer();
  clock.fails = true;
  await meter.writeAll(0);
  expect(errors).toHaveLength(1);
  clock.fails = false;
  answer();
  await meter.writeAll(0);
  expect(told()).toEqual([[0, 1, 1]]);
});
