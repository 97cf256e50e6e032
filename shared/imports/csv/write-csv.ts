import { stringify } from 'csv-stringify/sync';

/** Excel reads UTF-8 only with its mark. */
const MARK = '\uFEFF';

/**
 * What makes a spreadsheet run a cell, by OWASP, with the full-width forms that some fold into them.
 * A NUL is left out by some, and what is behind it begins the cell then.
 */
const RUNS = /^[=+\-@\t\r\n\0\uFF1D\uFF0B\uFF0D\uFF20]/;

/**
 * `-5`, `+1.50`, `-1,234.5`, `-1e5`: signs and digits compute nothing. Nor do a signed number and words
 * behind it, `-5.00: plain` or `+49 170 123`, as long as there are only letters, digits and what
 * divides sentences: without brackets no function is called, without `!`, `|` and quotes no other
 * sheet, file or program is reached, and without operators nothing is computed. Behind a colon there
 * must be a word: `-5:7` would be rows.
 */
const NUMBER =
  /^[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?(?:(?:: (?=\p{L})|[.,;]? )[\p{L}\p{M}\p{N} .,;:…]*)?$/iu;

/**
 * A table as CSV for spreadsheets: UTF-8 with its mark, CR LF, quotes only where they are needed.
 *
 * @param rows in batches, each row with a cell a column.
 * @returns the text in pieces: the header, then one piece a batch.
 */
export async function* csvLines(
  columns: readonly string[],
  rows: AsyncIterable<readonly (readonly string[])[]>,
): AsyncGenerator<string> {
  yield MARK + linesOf([columns]);
  for await (const batch of rows) if (batch.length > 0) yield linesOf(batch);
}

function linesOf(rows: readonly (readonly string[])[]): string {
  return stringify(
    rows.map((row) => row.map(escapeFormula)),
    // A line end of another kind ends a row too, for Excel and for the reader here.
    { record_delimiter: '\r\n', quote_record_delimiter: true },
  );
}

/**
 * A cell that a spreadsheet would run, behind an apostrophe, which makes it text. What is not surely
 * harmless is escaped: `-a` may be a name, and `-5-2` is computed. Numbers stay: they run nothing, and
 * a column of prices with apostrophes adds up to zero. (csv-stringify's own
 * `escape_formulas` knows a negative number by its type, and cells here are text.)
 */
export function escapeFormula(cell: string): string {
  return RUNS.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
}
