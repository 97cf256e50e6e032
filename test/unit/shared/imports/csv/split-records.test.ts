import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type RecordMark,
  RecordSplitter,
} from '../../../../../shared/imports/csv/split-records.ts';

/** Text in which every character matters. */
const dense = fc
  .array(fc.constantFrom('"', '""', ',', '\r', '\n', '\r\n', '\0', ' ', 'a', '👟', ';'), {
    maxLength: 40,
  })
  .map((parts) => parts.join(''));
const sizes = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 5 });

const parsed = (text: string) =>
  parse(text, {
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
  });

function split(pieces: readonly string[], maxField = 1000, maxFields = 1000) {
  const splitter = new RecordSplitter(',', maxField, maxFields);
  const records: RecordMark[] = [];
  let text = '';
  for (const piece of pieces) {
    const some = splitter.push(piece);
    records.push(...some.records);
    text += some.text;
  }
  const last = splitter.end();
  return { records: [...records, ...last.records], text: text + last.text, splitter };
}

function cut(text: string, lengths: readonly number[]): string[] {
  const characters = Array.from(text);
  const pieces: string[] = [];
  for (let turn = 0; characters.length > 0; turn += 1) {
    pieces.push(characters.splice(0, lengths[turn % lengths.length] ?? 1).join(''));
  }
  return pieces;
}

describe('records', () => {
  test('are the same wherever the text is cut', () => {
    fc.assert(
      fc.property(dense, sizes, (text, lengths) => {
        const once = split([text]);
        const often = split(cut(text, lengths));
        expect(often.records).toEqual(once.records);
        expect(often.splitter.brokenQuote).toBe(once.splitter.brokenQuote);
      }),
      { numRuns: 300 },
    );
  });

  test('are as many, with as many cells each, as csv-parse makes of the same text', () => {
    fc.assert(
      fc.property(dense, sizes, (text, lengths) => {
        const { records, text: kept, splitter } = split(cut(text, lengths));
        const cells = parsed(kept);
        expect(records.map(({ fields }) => fields)).toEqual(cells.map(({ length }) => length));
        if (splitter.brokenQuote === undefined) expect(cells).toEqual(parsed(text));
      }),
      { numRuns: 300 },
    );
  });

  test('know the line that they start on', () => {
    fc.assert(
      fc.property(dense, (text) => {
        const { records, text: kept } = split([text]);
        let at = 0;
        for (const record of records) {
          const before = kept.slice(0, at);
          expect(record.line).toBe(before.split(/\r\n|\r|\n/).length);
          at += lengthOfRecord(kept.slice(at), record.fields);
        }
      }),
    );
  });

  test('keep their ends, and the first characters of their cells, when too much is left out', () => {
    fc.assert(
      fc.property(dense, sizes, (text, lengths) => {
        const whole = split([text]);
        const some = split(cut(text, lengths), 3, 3);
        const cells = parsed(some.text);
        expect(cells).toHaveLength(whole.records.length);
        parsed(whole.text).forEach((expected, index) => {
          const record = some.records[index];
          expect(record).toMatchObject({
            line: whole.records[index]?.line,
            fields: expected.length,
          });
          const isTooMuch = expected.length > 3 || expected.some((cell) => cell.length > 3);
          expect(record?.excess !== undefined).toBe(isTooMuch);
          expected.slice(0, 3).forEach((cell, column) => {
            expect(cells[index]?.[column]?.slice(0, 3)).toBe(cell.slice(0, 3));
          });
        });
      }),
      { numRuns: 300 },
    );
  });
});

/** How much of the text csv-parse takes for its first record. */
function lengthOfRecord(text: string, fields: number): number {
  for (const { 0: end, index } of text.matchAll(/\r\n|\r|\n/g)) {
    const length = index + end.length;
    const start = text.slice(0, length);
    const quotesMatch = split([start]).splitter.brokenQuote === undefined;
    const cells = quotesMatch ? parsed(start) : [];
    if (cells.length === 1 && cells[0]?.length === fields) return length;
  }
  return text.length;
}

describe('memory', () => {
  const piece = 'x'.repeat(65_536);

  test.each([
    ['a cell', '1,', piece, '\n'],
    ['a quoted cell', '1,"', piece, '"\n'],
    ['a cell of quotes', '1,"', '"'.repeat(65_536), '"\n'],
    ['a row of cells', '1,', ',y'.repeat(32_768), '\n'],
    ['a row of quoted lines', '1,', '"y\n",'.repeat(10_000), '\n'],
  ])(
    'holds no more of %s than its limit and two pieces, however long it goes on',
    (_what, start, middle, end) => {
      const splitter = new RecordSplitter(',', 1000, 50);
      splitter.push(start);
      for (let count = 0; count < 100; count += 1) {
        expect(splitter.push(middle)).toEqual({ text: '', records: [] });
      }
      const { text, records } = splitter.push(`${end}2,z\n`);
      expect(text.length).toBeLessThan(3 * 65_536);
      expect(records).toHaveLength(2);
      expect(records[0]?.excess).toBeDefined();
      expect(parsed(text)[1]).toEqual(['2', 'z']);
    },
  );
});
