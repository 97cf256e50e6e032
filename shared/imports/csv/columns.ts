import { figure } from './limits.ts';
import { type CsvProblem, CsvRefused, refusedFile } from './refused.ts';

/** What a column holds: enough to choose columns by, and to estimate what summaries will cost. */
export interface ColumnReport {
  readonly name: string;
  /** Rows whose cell is not blank. */
  readonly filled: number;
  /** Of the filled cells as they are in the file, in UTF-16 units, rounded; 0 if none is filled. */
  readonly meanCharacters: number;
  /** Of the longest. */
  readonly maxCharacters: number;
  /** The first three different cells that are not blank, cut to 80 characters. */
  readonly samples: readonly string[];
}

const MAX_SAMPLES = 3;
const SAMPLE_CHARACTERS = 80;
/** Of the file's own words within a message. */
const QUOTED_CHARACTERS = 60;

/** Running totals of one column. */
export class ColumnTally {
  readonly #name: string;
  #filled = 0;
  #characters = 0;
  #maxCharacters = 0;
  readonly #samples: string[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  /** @param length in the file, if what is here was cut */
  add(cell: string, length = cell.length): void {
    if (isBlank(cell)) return;
    this.#filled += 1;
    this.#characters += length;
    this.#maxCharacters = Math.max(this.#maxCharacters, length);
    if (this.#samples.length === MAX_SAMPLES) return;
    const sample = sampleOf(cell);
    if (!this.#samples.includes(sample)) this.#samples.push(sample);
  }

  report(): ColumnReport {
    return {
      name: this.#name,
      filled: this.#filled,
      meanCharacters: this.#filled === 0 ? 0 : Math.round(this.#characters / this.#filled),
      maxCharacters: this.#maxCharacters,
      samples: [...this.#samples],
    };
  }
}

/** As much of a cell as is shown of it where only a look is wanted. */
export function sampleOf(cell: string): string {
  return cutTo(cell, SAMPLE_CHARACTERS);
}

export function isBlank(cell: string): boolean {
  return !/\S/.test(cell);
}

/** The start of a text, at most so many UTF-16 units and no half of a pair. The rest is not kept in memory. */
export function cutTo(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const start = text.slice(0, characters).replace(/[\uD800-\uDBFF]$/, '');
  // A slice holds on to the whole text; its bytes do not.
  return Buffer.from(start).toString();
}

/** The file's own words within a message. */
export function quoted(text: string): string {
  return JSON.stringify(cutTo(text, QUOTED_CHARACTERS));
}

/**
 * Distinct names for the header's cells. Blank ones are named by their place; two of the same name
 * are refused, for a row as an object would lose one of the columns.
 *
 * @returns the names, and what to warn of, in words that follow `line 1`.
 * @throws CsvRefused naming every name that is there twice.
 */
export function namesOf(
  cells: readonly string[],
  line: number,
): { header: string[]; warnings: string[] } {
  const places = new Map<string, number[]>();
  cells.forEach((cell, index) => {
    const name = cell.trim();
    if (name !== '') places.set(name, [...(places.get(name) ?? []), index + 1]);
  });
  const problems = [...places].flatMap(([name, columns]): CsvProblem[] =>
    columns.length === 1
      ? []
      : [
          {
            line,
            message: `line ${line} has the column name ${quoted(name)} ${times(columns.length)}: columns ${listed(columns)}`,
          },
        ],
  );
  if (problems.length > 0) throw new CsvRefused('csv-header', problems.slice(0, 20));

  const warnings = oddNames([...places.keys()]);
  const header = cells.map((cell, index) => {
    const name = cell.trim();
    if (name !== '') return name;
    let own = `column ${index + 1}`;
    while (places.has(own)) own += "'";
    warnings.push(`has no name for column ${index + 1}: it is called ${JSON.stringify(own)}`);
    return own;
  });
  return { header, warnings };
}

/** A number, with its sign, its separators and a currency or per cent beside it. */
const NUMBER = /^[^\p{L}]*\d[^\p{L}]*$/u;

/** What to look at in names that are accepted. */
function oddNames(names: readonly string[]): string[] {
  const numbers = names.filter((name) => NUMBER.test(name));
  const spellings = new Map<string, string[]>();
  for (const name of names) {
    const key = name.toLowerCase();
    spellings.set(key, [...(spellings.get(key) ?? []), name]);
  }
  const alike = [...spellings.values()].filter(({ length }) => length > 1);
  return [
    ...(numbers.length === 0
      ? []
      : [
          `names ${numbers.length === 1 ? 'a column' : 'columns'} by numbers, ${few(numbers)}: is it a row, and the line with the names missing?`,
        ]),
    ...(alike.length === 0
      ? []
      : [`has column names that differ only by case: ${few(alike.flat())}`]),
  ];
}

function few(names: readonly string[]): string {
  const rest = names.length - 5;
  return `${names.slice(0, 5).map(quoted).join(', ')}${rest > 0 ? ` and ${figure(rest)} more` : ''}`;
}

function times(count: number): string {
  return count === 2 ? 'twice' : `${figure(count)} times`;
}

function listed(numbers: readonly number[]): string {
  const shown = numbers.slice(0, 5).map(String);
  if (numbers.length > 5) return `${shown.join(', ')} and ${figure(numbers.length - 5)} more`;
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

/** The place of the column of that name, from 0. @throws CsvRefused naming the columns there are. */
export function columnIndex(header: readonly string[], name: string): number {
  const index = header.indexOf(name.trim());
  if (index !== -1) return index;
  const names = header.slice(0, 20).map(quoted).join(', ');
  throw refusedFile('csv-header', `expected a column ${quoted(name)} and the file has ${names}`);
}
