import { stringify } from 'csv-stringify/sync';

/** Excel reads UTF-8 only with its mark. */
const MARK = '\uFEFF';

/** What makes a spreadsheet run a cell, with the full-width forms that some fold into them. */
const RUNS = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** `-5`, `+1.50`, `-1,234.5`, `1e5`: signs and digits compute nothing. */
const NUMBER = /^[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?$/i;

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
 * A cell that a spreadsheet would run, behind an apostrophe, which makes it text. Numbers stay: they
 * run nothing, and a column of prices with apostrophes adds up to zero. (csv-stringify's own
 * `escape_formulas` knows a negative number by its type, and cells here are text.)
 */
export function escapeFormula(cell: string): string {
  return RUNS.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
}
