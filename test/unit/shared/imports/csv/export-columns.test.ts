import fc from 'fast-check';
import { expect, test } from 'vitest';
import { namesOf } from '../../../../../shared/imports/csv/columns.ts';
import { exportColumns } from '../../../../../shared/imports/csv/export-columns.ts';

test('an export has the file’s columns, then the summary, its state and its reason', () => {
  expect(exportColumns(['id', 'name'])).toEqual([
    ...['id', 'name', 'summary', 'summary state', 'summary reason'],
  ]);
});

test.each([
  [['id', 'summary'], 2],
  [['Summary Reason', 'id'], 2],
  [['summary', 'summary state', 'summary reason'], 2],
  [['summary', 'summary state 2'], 3],
  [['summary 2', 'id'], 1],
])('its own columns are numbered together where the file has %j', (header, number) => {
  const suffix = number === 1 ? '' : ` ${number}`;
  expect(exportColumns(header)).toEqual([
    ...header,
    ...['summary', 'summary state', 'summary reason'].map((name) => name + suffix),
  ]);
});

test('any header is exported under names that can be imported again, and again', () => {
  const word = fc.constantFrom(
    'summary',
    'Summary',
    'summary state 2',
    '=a',
    "'=a",
    "''=a",
    'b',
    '',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(word, fc.string()), { minLength: 1, maxLength: 8 }), (cells) => {
      const distinct = [...new Map(cells.map((cell) => [cell.trim(), cell])).values()];
      let { header } = namesOf(distinct, 1);
      for (let round = 1; round <= 3; round++) {
        const columns = exportColumns(header);
        expect(columns).toHaveLength(header.length + 3);
        ({ header } = namesOf(columns, 1));
        expect(new Set(header).size).toBe(columns.length);
      }
    }),
  );
});
