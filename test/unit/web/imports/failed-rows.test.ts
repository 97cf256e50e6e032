import { expect, test } from 'vitest';
import { createFailedRows } from '../../../../web/imports/rows/failed-rows.ts';
import { rowsApi, settle } from './rows-api.ts';

const progress = (failed: number, over = false) => ({ total: 5000, written: 5000, failed, over });

test('failed rows come page by page as one scrolls, however far apart they are', async () => {
  const { ask, asked } = rowsApi((row) => (row % 20 === 0 ? 'failed' : 'done'), 5000);
  const rows = createFailedRows(ask('failed', 600));
  rows.told(progress(250, true));
  rows.show({ from: 1, to: 12 });
  await settle();
  expect(rows.at(1)?.row).toBe(20);
  expect(rows.at(12)?.row).toBe(240);
  expect(asked).toHaveLength(1);
  expect(rows.count).toBe(Math.min(250, 30 + 200));

  rows.show({ from: 230, to: 250 });
  await settle();
  expect(rows.at(250)?.row).toBe(5000);
  expect(rows.at(251)).toBeUndefined();
  expect(rows.count).toBe(250);
});

test('those that fail in between are there when the import is over', async () => {
  const failed = new Set([100, 300]);
  const { ask } = rowsApi((row) => (failed.has(row) ? 'failed' : 'done'), 5000);
  const rows = createFailedRows(ask('failed', 5000));
  rows.show({ from: 1, to: 10 });
  rows.told(progress(2));
  await settle();
  failed.add(200).add(400);
  rows.told(progress(4));
  await settle();
  expect([1, 2, 3].map((place) => rows.at(place)?.row)).toEqual([100, 300, 400]);
  rows.told(progress(4, true));
  await settle();
  expect([1, 2, 3, 4].map((place) => rows.at(place)?.row)).toEqual([100, 200, 300, 400]);
});

test('a retry empties the list', async () => {
  const failed = new Set([100, 300]);
  const { ask } = rowsApi((row) => (failed.has(row) ? 'failed' : 'done'), 5000);
  const rows = createFailedRows(ask('failed', 5000));
  rows.show({ from: 1, to: 10 });
  rows.told(progress(2, true));
  await settle();
  expect(rows.count).toBe(2);
  failed.clear();
  rows.told({ ...progress(0), written: 4998 });
  await settle();
  expect(rows.count).toBe(0);
  expect(rows.at(1)).toBeUndefined();
});
