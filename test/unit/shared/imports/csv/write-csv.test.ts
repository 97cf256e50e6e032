import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvLines, escapeFormula } from '../../../../../shared/imports/csv/write-csv.ts';
import { read } from '../../../../csv-files.ts';

async function written(columns: string[], ...batches: string[][][]): Promise<string> {
  async function* rows() {
    yield* batches;
  }
  let text = '';
  for await (const piece of csvLines(columns, rows())) text += piece;
  return text;
}

describe('CSV for spreadsheets', () => {
  test('is marked as UTF-8, ends its lines in CR LF and quotes what must be', async () => {
    const text = await written(
      ['a', 'b'],
      [
        ['1', 'x, y'],
        ['é', 'say "hi"'],
      ],
      [],
      [['', 'two\nlines']],
    );
    expect(text).toBe('\uFEFFa,b\r\n1,"x, y"\r\né,"say ""hi"""\r\n,"two\nlines"\r\n');
  });

  test('is a header alone where there are no rows', async () => {
    expect(await written(['=a', 'b'])).toBe("\uFEFF'=a,b\r\n");
  });

  test('comes back as it went, but for the escapes', async () => {
    const cells = fc.array(
      fc.constantFrom(
        '"',
        ',',
        '\r',
        '\n',
        '=',
        '-',
        '@',
        'é',
        '👟',
        '7',
        ' ',
        ';',
        '\t',
        '\uFEFF',
      ),
      { maxLength: 6 },
    );
    const rows = fc.array(
      fc.tuple(
        fc.constant('0'),
        cells.map((parts) => parts.join('')),
      ),
      { minLength: 1, maxLength: 10 },
    );
    await fc.assert(
      fc.asyncProperty(rows, async (table) => {
        const back = await read(await written(['name', 'other'], table), { delimiter: ',' });
        expect(back.rows.map((row) => row.cells)).toEqual(
          table.map((row) => row.map(escapeFormula)),
        );
      }),
    );
  });
});

describe('a cell', () => {
  test.each([
    '=1+1',
    '+1+cmd',
    '-1+2',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\n=1',
    '＝1',
    '＋1',
    '－1',
    '＠a',
    '-',
    '+49 170 123',
    '-5 apples',
  ])('%j, which a spreadsheet would run, is made text', (cell) => {
    expect(escapeFormula(cell)).toBe(`'${cell}`);
  });

  test.each(['-5', '-1.5', '-5.00', '+3', '-1,234.50', '-1e5', '1-2', 'a=b', '', "'", ' =1'])(
    '%j stays as it is',
    (cell) => {
      expect(escapeFormula(cell)).toBe(cell);
    },
  );
});
