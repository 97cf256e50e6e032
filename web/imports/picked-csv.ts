import { bytesInWords } from '../shell/amounts.ts';

// What can be told of a file before anybody is asked.

export interface Picked {
  readonly name: string;
  readonly size: number;
}

/** What a file dialog offers. */
export const ACCEPTED = '.csv,.tsv,.tab,.txt,text/csv,text/tab-separated-values,text/plain';

/** What people have in mind when they say CSV, and what it is not. */
const OTHERS: ReadonlyMap<string, string> = new Map([
  ...['xlsx', 'xls', 'xlsm', 'xlsb', 'ods', 'numbers'].map(
    (ending) => [ending, 'This is a workbook. Open it, export it as CSV and add that.'] as const,
  ),
  ...['zip', 'gz', '7z', 'rar'].map(
    (ending) => [ending, 'This is an archive. Unpack it and add the CSV that is in it.'] as const,
  ),
  ...['pdf', 'doc', 'docx', 'jpg', 'jpeg', 'png', 'webp', 'html'].map(
    (ending) => [ending, 'This is not a table. Only CSV files can be imported.'] as const,
  ),
]);

/** Why this file cannot be imported, in one or two sentences; undefined if it may be. */
export function refusalOf({ name, size }: Picked, maxBytes: number): string | undefined {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const other = OTHERS.get(ending);
  if (other !== undefined) return other;
  if (size === 0) return 'The file is empty. Export it again, with its rows.';
  if (size <= maxBytes) return undefined;
  return `The file has ${bytesInWords(size)}, and ${bytesInWords(maxBytes)} can be taken. Split it and import the parts.`;
}

/** The API's names have so many UTF-16 units at most. */
const LONGEST_NAME = 200;

export function importName(file: string): string {
  // A pair that the end would split goes as a whole.
  const name = file
    .trim()
    .slice(0, LONGEST_NAME)
    .replace(/[\uD800-\uDBFF]$/, '');
  return name.toWellFormed() || 'Without a name';
}
