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
    '\0=1',
    '-',
    '-a',
    '- 5 apples',
    '-5:7',
    '-5: 7',
    '-5+2 apples',
    '-5 apples-2',
    '-5: SUM(A1)',
    '-5: cmd|',
    "-5: 'other'!A1",
    '-5: see "more"',
    '-5: 50 %',
    '-5: A1&A2',
    '-5: a\n=1',
  ])('%j, which a spreadsheet would run, is made text', (cell) => {
    expect(escapeFormula(cell)).toBe(`'${cell}`);
  });

  test.each([
    ...['-5', '-1.5', '-5.00', '+3', '-1,234.50', '-1e5', '1-2', 'a=b', '', "'", ' =1'],
    // A number and words: nothing of it calls, refers or computes.
    ...['-5.00: plain negative number', '-5 apples', '+49 170 123', '-20. Größe 38, naïve…'],
  ])('%j stays as it is', (cell) => {
    expect(escapeFormula(cell)).toBe(cell);
  });

  test('that stays as it is and begins as a formula would has nothing that one could be made of', () => {
    const parts = fc.constantFrom(
      ...Array.from('=+-@\t\r\n\0＝＋－＠()[]{}!|\'"&%*/^<>#$~\\`_'),
      ...['5', '1.5', '1e5', ': ', ':', ' ', '. ', ',', 'a', 'SUM', 'A1', 'é', '…'],
    );
    const cell = fc.array(parts, { maxLength: 8 }).map((each) => each.join(''));
    fc.assert(
      fc.property(fc.constantFrom('', '-', '+', '-5', '+5: a', '='), cell, (start, rest) => {
        const text = start + rest;
        const escaped = escapeFormula(text);
        if (escaped !== text) {
          expect(escaped).toBe(`'${text}`);
          return;
        }
        if (!/^[=+\-@\t\r\n\0＝＋－＠]/.test(text)) return;
        const [number = ''] = /^[+-]\d[\d.,]*(e[+-]?\d+)?/i.exec(text) ?? [];
        expect(number).not.toBe('');
        expect(text.slice(number.length)).toMatch(/^([.,;:]? [\p{L}\p{M}\p{N} .,;:…]*)?$/u);
      }),
      { numRuns: 2000 },
    );
  });
});
