import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createGate } from '../../../../functions/chunk-worker/gate.ts';

const never = () => new Promise<never>(() => {});

test('never lets through more than its size, whatever fails and however long it takes', async () => {
  const work = fc.record({ ticks: fc.integer({ min: 1, max: 4 }), fails: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      // Of several chunks: each asks for all of its rows at once.
      fc.array(fc.array(work, { maxLength: 8 }), { maxLength: 4 }),
      async (size, chunks) => {
        const gate = createGate(size);
        let inFlight = 0;
        let most = 0;
        const run = async ({ ticks, fails }: { ticks: number; fails: boolean }) =>
          await gate.run(async () => {
            inFlight += 1;
            most = Math.max(most, inFlight);
            for (let tick = 0; tick < ticks; tick++) await setImmediate();
            inFlight -= 1;
            if (fails) throw new Error('not well');
          });
        const rows = chunks.flat();
        const ended = await Promise.allSettled(rows.map(run));
        expect(most).toBe(Math.min(size, rows.length));
        expect(ended.map(({ status }) => status === 'rejected')).toEqual(
          rows.map(({ fails }) => fails),
        );
      },
    ),
    { numRuns: 50 },
  );
});

test('a new invocation has all its places, whatever the one before has left', async () => {
  const gate = createGate(2);
  void gate.run(never);
  void gate.run(never);
  gate.reset();
  expect(await Promise.all([1, 2, 3].map((each) => gate.run(async () => each)))).toEqual([1, 2, 3]);
});

test('what an earlier invocation left is given up, and nobody waits for ever', async () => {
  const gate = createGate(1);
  const call = gate.run(
    (signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve('given up'));
      }),
  );
  const waiting = gate.run(async (signal) => signal.aborted);
  await setImmediate();
  gate.reset();
  expect(await call).toBe('given up');
  expect(await waiting).toBe(true);
  expect(await gate.run(async (signal) => signal.aborted)).toBe(false);
});
