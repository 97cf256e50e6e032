import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DELIMITERS } from '../../../../../shared/imports/csv/delimiter.ts';
import { encode, read, repertoire } from '../../../../csv-files.ts';

const ODD = [
  '"',
  '""',
  ',',
  ';',
  '\t',
  '|',
  '\n',
  '\r\n',
  '\r',
  '=1+1',
  'nul\0within',
  ' ',
  '-5',
  '\uFEFF',
  '\u2028',
  '\uFFFE',
  '\uFFFD',
  '\u{1FAD6}',
];
const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 });

const cell = (letters: readonly string[]) =>
  fc
    .array(fc.oneof(fc.constantFrom(...letters), fc.constantFrom('plain text', 'words')), {
      maxLength: 6,
    })
    .map((parts) => parts.join(''));

/** Rows that are not blank, each with a cell a column. */
const tables = (letters: readonly string[]) =>
  fc.integer({ min: 1, max: 5 }).chain((columns) =>
    fc.array(
      fc
        .tuple(fc.constant('0'), ...Array.from({ length: columns - 1 }, () => cell(letters)))
        .map((cells) => cells.map(String)),
      { minLength: 1, maxLength: 8 },
    ),
  );

const UNICODE = [...ODD, 'é', 'Ж', '台', '👟'];
const LATIN = [
  ...ODD.filter((text) => /^[\0-\x7f]*$/.test(text)),
  ...repertoire('windows-1252').slice(0xa0),
  '€',
];

const files = fc.record({
  form: fc.oneof(
    fc.record({
      encoding: fc.constantFrom('utf-8', 'utf-16le', 'utf-16be'),
      mark: fc.constant('\uFEFF'),
      isStated: fc.boolean(),
      rows: tables(UNICODE),
    }),
    fc.record({
      encoding: fc.constantFrom('utf-8', 'utf-16le', 'utf-16be'),
      mark: fc.constant(''),
      isStated: fc.constant(true),
      rows: tables(UNICODE),
    }),
    fc.record({
      encoding: fc.constant('utf-8'),
      mark: fc.constant(''),
      isStated: fc.constant(false),
      rows: tables(UNICODE),
    }),
    fc.record({
      encoding: fc.constant('windows-1252'),
      mark: fc.constant(''),
      isStated: fc.constant(true),
      rows: tables(LATIN),
    }),
  ),
  delimiter: fc.constantFrom(...DELIMITERS),
  ends: fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: 1, maxLength: 3 }),
  isQuoted: fc.boolean(),
  sizes,
});

test('any cells come back from any encoding, delimiter, line ends and chunks, with their lines', async () => {
  await fc.assert(
    fc.asyncProperty(files, async ({ form, delimiter, ends, isQuoted, sizes }) => {
      const header = (form.rows[0] ?? []).map((_, column) => `a name for column ${column}`);
      const lines: number[] = [];
      let text = '';
      for (const [index, cells] of [header, ...form.rows].entries()) {
        lines.push(text.split(/\r\n|\r|\n/).length);
        const written = cells.map((content) =>
          isQuoted || /[",;\t|\r\n]/.test(content) ? `"${content.replaceAll('"', '""')}"` : content,
        );
        text += written.join(delimiter) + (ends[index % ends.length] ?? '\n');
      }
      const bytes = encode(form.mark + text, form.encoding);
      const { rows, report, refusal } = await read(bytes, {
        delimiter,
        sizes,
        ...(form.isStated ? { encoding: form.encoding } : {}),
      });
      expect(refusal).toBeUndefined();
      expect(rows.map(({ cells }) => cells)).toEqual(form.rows);
      expect(rows.map(({ line }) => line)).toEqual(lines.slice(1));
      expect(report).toMatchObject({ encoding: form.encoding, header, rows: form.rows.length });
    }),
    { numRuns: 150 },
  );
});

const CSV_LIKE = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('a', '1', ',', ';', '"', '\n', '\r\n') },
      { weight: 1, arbitrary: fc.constantFrom('é', '\xff', '\0', 'sep=;', '\uFEFF', '👟') },
    ),
    { maxLength: 60 },
  )
  .chain((parts) =>
    fc
      .constantFrom('utf8', 'latin1', 'utf16le')
      .map((to) => Buffer.from(parts.join(''), to as BufferEncoding)),
  );

test('any bytes at all are read or refused, the same in any chunks, and nothing else is thrown', async () => {
  const limits = { maxBytes: 200, maxRows: 4, maxColumns: 4, maxFieldCharacters: 6 };
  const bytes = fc.oneof(
    { weight: 3, arbitrary: CSV_LIKE },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 220 }) },
  );
  const encoding = fc.constantFrom(
    undefined,
    'utf-8',
    'utf-16le',
    'windows-1252',
    'gb18030' as const,
  );
  await fc.assert(
    fc.asyncProperty(bytes, encoding, sizes, async (content, stated, sizes) => {
      const options = { limits, ...(stated === undefined ? {} : { encoding: stated }) };
      const once = await read(content, options);
      const often = await read(content, { ...options, sizes });
      expect(often.rows).toEqual(once.rows);
      expect(often.report).toEqual(once.report);
      expect(often.refusal?.problems).toEqual(once.refusal?.problems);
      const width = once.file?.header.length;
      for (const { cells } of once.rows) expect(cells).toHaveLength(width ?? 0);
    }),
    { numRuns: 300 },
  );
});
