import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAllRows } from '../../../../web/imports/rows/all-rows.ts';
import { ApiError } from '../../../../web/shell/api-error.ts';
import { rowsApi, settle } from './rows-api.ts';

const progress = (written: number, over = false, failed = 0, total = 1000) => ({
  total,
  written,
  failed,
  over,
});

test('only the rows of the window are asked for, once they are written, and never again', async () => {
  let upTo = 0;
  const { ask, asked } = rowsApi((row) => (row <= upTo ? 'done' : undefined), 1000);
  const rows = createAllRows(ask(), () => 0);
  rows.show({ from: 1, to: 20 });
  rows.told(progress(0));
  await settle();
  expect(asked).toEqual([]);

  upTo = 12;
  rows.told(progress(12));
  await settle();
  expect(asked).toEqual([{ after: 0, limit: 20 }]);
  expect(rows.at(12)?.summary).toBe('of 12');
  expect(rows.at(13)).toBeUndefined();

  // Nothing has changed.
  rows.told(progress(12));
  rows.show({ from: 1, to: 20 });
  await settle();
  expect(asked).toHaveLength(1);

  upTo = 500;
  rows.told(progress(500));
  await settle();
  expect(asked.slice(1)).toEqual([{ after: 12, limit: 8 }]);
  rows.told(progress(501));
  await settle();
  expect(asked).toHaveLength(2);
});

test('a window far ahead of what is written is asked for less and less often', async () => {
  const { ask, asked } = rowsApi((row) => (row <= 10 ? 'done' : undefined), 1000);
  let now = 0;
  const rows = createAllRows(ask(), () => now);
  rows.show({ from: 900, to: 920 });
  for (let second = 1; second <= 60; second += 1) {
    now = second * 1000;
    rows.told(progress(10 + second));
    await settle();
  }
  expect(asked.length).toBeLessThan(10);
  // The end is not waited for.
  rows.told(progress(1000, true));
  await settle();
  expect(asked.at(-1)).toEqual({ after: 899, limit: 21 });
});

test('rows that fail again or are mended after a retry are shown as they are', async () => {
  const states = new Map<number, 'done' | 'failed'>([
    [1, 'done'],
    [2, 'failed'],
    [3, 'failed'],
  ]);
  const { ask, asked } = rowsApi((row) => states.get(row), 3);
  const rows = createAllRows(ask(), () => 0);
  rows.show({ from: 1, to: 3 });
  rows.told(progress(3, true, 2, 3));
  await settle();
  expect([1, 2, 3].map((row) => rows.at(row)?.state)).toEqual(['done', 'failed', 'failed']);

  rows.told(progress(1, false, 0, 3));
  await settle();
  states.set(2, 'done');
  rows.told(progress(3, true, 1, 3));
  await settle();
  expect([1, 2, 3].map((row) => rows.at(row)?.state)).toEqual(['done', 'done', 'failed']);
  const asks = asked.length;
  rows.told(progress(3, true, 1, 3));
  await settle();
  expect(asked).toHaveLength(asks);
});

test('after an error it says so, and asks again when told to', async () => {
  let broken = true;
  const { ask } = rowsApi(() => 'done', 10);
  const rows = createAllRows(async (asked) => {
    if (broken) throw new ApiError(503, 'busy', 'Not now.');
    return await ask()(asked);
  });
  rows.show({ from: 1, to: 10 });
  rows.told(progress(10, true, 0, 10));
  await settle();
  expect(rows.state.error?.status).toBe(503);
  broken = false;
  rows.again();
  await settle();
  expect(rows.state.error).toBeUndefined();
  expect(rows.at(10)?.state).toBe('done');
});

test('however one scrolls while rows are written, those on screen come and none is asked for twice', async () => {
  const step = fc.record({ from: fc.integer({ min: 1, max: 980 }), more: fc.nat(100) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.integer({ min: 30, max: 400 }),
      async (steps, most) => {
        let upTo = 0;
        const answered = new Map<number, number>();
        const { ask } = rowsApi((row) => (row <= upTo ? 'done' : undefined), 1000);
        const rows = createAllRows(async (asked) => {
          const answer = await ask(undefined, most)(asked);
          for (const { row } of answer.rows) answered.set(row, (answered.get(row) ?? 0) + 1);
          return answer;
        });
        for (const { from, more } of steps) {
          upTo = Math.min(1000, upTo + 130);
          rows.told(progress(upTo));
          rows.show({ from, to: Math.min(1000, from + more) });
          await settle();
        }
        upTo = 1000;
        rows.told(progress(1000, true));
        await settle();
        const { from, more } = steps.at(-1) ?? { from: 1, more: 0 };
        rows.show({ from, to: Math.min(1000, from + more) });
        await settle();
        for (let row = from; row <= Math.min(1000, from + more); row += 1) {
          expect(rows.at(row)?.summary).toBe(`of ${row}`);
        }
      },
    ),
    { numRuns: 40 },
  );
});
