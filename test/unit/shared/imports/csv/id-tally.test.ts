import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IdTally } from '../../../../../shared/imports/csv/id-tally.ts';
import { read } from '../../../../csv-files.ts';

const warningsOf = async (text: string, idColumn?: string) =>
  (await read(text, idColumn === undefined ? {} : { idColumn })).report?.warnings;

test('rows without an id, and with that of another, are told of by their lines', async () => {
  const text = 'sku,name\nA,Mug\n ,Apron\nB,Board\nA,Throw\n\n,Torch\nB,Candle\n';
  expect(await warningsOf(text, 'sku')).toEqual([
    { line: 3, message: '2 rows have no "sku" and are known by their number: lines 3, 7' },
    {
      line: 5,
      message:
        '2 rows have the "sku" of an earlier row: lines 5, 8, the first of them that of line 2',
    },
  ]);
  expect(await warningsOf(text)).toEqual([]);
});

test('one row is one, and of many the first are named', async () => {
  expect(await warningsOf('sku,name\nA,Mug\n,Apron\n', 'sku')).toEqual([
    { line: 3, message: '1 row has no "sku" and is known by its number: line 3' },
  ]);
  expect(await warningsOf(`sku,name\n${'A,Mug\n'.repeat(1200)}`, 'sku')).toEqual([
    {
      line: 3,
      message:
        '1,199 rows have the "sku" of an earlier row: lines 3, 4, 5, 6, 7 and 1,194 more, the first of them that of line 2',
    },
  ]);
});

test('they are told also where a hundred lines are odd for other reasons', async () => {
  const warnings = await warningsOf(`sku,name,price\n${'A,Mug\n'.repeat(200)}`, 'sku');
  expect(warnings).toHaveLength(100);
  expect(warnings?.[0]?.message).toMatch(/^199 rows have the "sku"/);
});

test('ids that differ are not taken for one another, and those that are alike are found', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1, maxLength: 4 }), { maxLength: 300 }), (ids) => {
      const given = ids.filter((id) => id.trim() !== '');
      const tally = new IdTally('id');
      given.forEach((id, index) => {
        tally.add(id, index + 1);
      });
      const repeated = given.length - new Set(given).size;
      const [warning] = tally.warnings();
      expect(Number(warning?.message.split(' ')[0] ?? 0)).toBe(repeated);
    }),
  );
});
