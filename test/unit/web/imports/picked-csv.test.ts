import { expect, test } from 'vitest';
import { importName, refusalOf } from '../../../../web/imports/picked-csv.ts';

test.each([
  ['goods.csv', 10, undefined],
  ['goods.TSV', 10, undefined],
  ['export', 10, undefined],
  ['goods.xlsx', 10, /workbook.*export it as CSV/],
  ['goods.zip', 10, /archive/],
  ['photo.JPG', 10, /not a table/],
  ['goods.csv', 0, /empty/],
  ['goods.csv', 2_000_000_000, /2 GB, and 1 GB can be taken/],
])('%s of %i bytes', (name, size, refusal) => {
  const said = refusalOf({ name, size }, 1_000_000_000);
  if (refusal === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(refusal);
});

test('a name has at most as many characters as the API takes, none cut in half', () => {
  expect(importName(' goods.csv ')).toBe('goods.csv');
  expect(importName('🧵'.repeat(300)).isWellFormed()).toBe(true);
  expect(importName('🧵'.repeat(300)).length).toBeLessThanOrEqual(200);
  expect(importName('   ')).toBe('Without a name');
});
