import { expect, test } from 'vitest';
import { createMeter } from '../../../../functions/chunk-worker/meter.ts';
import type { Usage } from '../../../../shared/fleet/usage-item.ts';

function metered() {
  const clock = { now: 1_800_000_000_000, ops: 0, fails: false };
  const written: [usage: Usage, at: number][] = [];
  const errors: unknown[] = [];
  const meter = createMeter({
    write: async (usage, now) => {
      if (clock.fails) throw new Error('not now');
      written.push([usage, now]);
    },
    storeOps: () => clock.ops,
    now: () => clock.now,
    onError: (error) => errors.push(error),
  });
  return { clock, written, errors, meter };
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
  await meter.flush(0);
  await meter.flush(0);
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
      clock.now,
    ],
  ]);
});

test('it is not written more often than it is told, and a process counts once in each item', async () => {
  const { clock, written, meter } = metered();
  const answer = () => meter.answered(800, { inputTokens: 1, outputTokens: 1 });
  for (let second = 0; second < 25; second++) {
    answer();
    await meter.flush(5000);
    clock.now += 1000;
  }
  expect(written.map(([{ calls, processes }]) => [calls, processes])).toEqual([
    [1, 1],
    [5, 0],
    [5, 1],
    [5, 0],
    [5, 1],
  ]);
  const ops = written.reduce((all, [{ storeOps }]) => all + storeOps, 0);
  expect(ops).toBe(written.length);
});

test('a write that fails is told of and disturbs nobody', async () => {
  const { clock, written, errors, meter } = metered();
  meter.answered(800, { inputTokens: 1, outputTokens: 1 });
  clock.fails = true;
  await meter.flush(0);
  expect(errors).toHaveLength(1);
  clock.fails = false;
  meter.answered(800, { inputTokens: 1, outputTokens: 1 });
  await meter.flush(0);
  expect(written.map(([{ calls }]) => calls)).toEqual([1]);
});
