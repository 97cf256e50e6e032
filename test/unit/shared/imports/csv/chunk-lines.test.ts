import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatChunk,
  MalformedChunkError,
  parseChunk,
  toChunkRow,
} from '../../../../../shared/imports/csv/chunk-lines.ts';
import { columnIndex } from '../../../../../shared/imports/csv/columns.ts';

describe('a row of a chunk', () => {
  const row = { row: 7, line: 9, cells: ['00123', ' '] };

  test.each([
    [0, '00123'],
    [1, '7'],
    [undefined, '7'],
    [5, '7'],
  ])('has its id from column %s, or its number', (column, id) => {
    expect(toChunkRow(row, column)).toEqual({ ...row, id });
  });

  test('knows that it is whole elsewhere', () => {
    expect(toChunkRow({ ...row, whole: ['more'] })).toMatchObject({
      cells: row.cells,
      isCut: true,
    });
    expect(toChunkRow(row)).not.toHaveProperty('isCut');
  });

  test('keeps its problem', () => {
    expect(toChunkRow({ ...row, problem: 'too long' })).toMatchObject({ problem: 'too long' });
  });
});

describe('a chunk', () => {
  test('comes back as it went, one row a line, whatever the cells hold', () => {
    const cell = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\0', '\u2028', '\uFFFE', '\ud83d', '\n', '\r\n', '"', '👟'),
    );
    const rows = fc.array(
      fc.record(
        {
          row: fc.integer({ min: 1 }),
          line: fc.integer({ min: 1 }),
          id: fc.string({ minLength: 1 }),
          cells: fc.array(cell),
          problem: fc.string(),
        },
        { requiredKeys: ['row', 'line', 'id', 'cells'], noNullPrototype: true },
      ),
    );
    fc.assert(
      fc.property(rows, (chunk) => {
        const text = formatChunk(chunk);
        expect(text.split('\n')).toHaveLength(chunk.length + 1);
        expect(parseChunk(text)).toEqual(chunk);
      }),
    );
  });

  const line = '{"row":1,"line":2,"id":"1","cells":["x"]}\n';

  test.each([
    ['not JSON', `${line}oops\n`, 'in line 2 of a chunk, got oops'],
    ['a number for a cell', line.replace('"x"', '5'), 'in line 1'],
    ['an unknown key', line.replace('"row"', '"more":1,"row"'), 'in line 1'],
    ['no id', line.replace('"id":"1",', ''), 'in line 1'],
    ['an empty line', `\n${line}`, 'in line 1'],
    ['a cut-off end', line.trimEnd(), 'ends in a line end'],
  ])('with %s is malformed', (_what, text, message) => {
    expect(() => parseChunk(text)).toThrow(MalformedChunkError);
    expect(() => parseChunk(text)).toThrow(message);
  });
});

test('a column is found by its name, and the names there are told if it is not', () => {
  expect(columnIndex(['sku', 'text'], ' text ')).toBe(1);
  expect(() => columnIndex(['sku', 'text'], 'id')).toThrow(
    'expected a column "id" and the file has "sku", "text"',
  );
});
