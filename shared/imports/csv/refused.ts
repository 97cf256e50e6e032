import { GlimpseError } from '../../errors.ts';

/** What a file was refused for. */
export type CsvRefusal =
  /** No bytes, or nothing but blank lines. */
  | 'csv-empty'
  /** A workbook, a picture, a web page. */
  | 'csv-not-text'
  /** The bytes are not in the encoding that was stated, or that they began in. */
  | 'csv-encoding'
  | 'csv-delimiter'
  /** Two columns of one name, or a column that is asked for and is not there. */
  | 'csv-header'
  /** A quote that is opened and not closed: where rows end is then anybody's guess. */
  | 'csv-quote'
  | 'csv-no-rows'
  /** More bytes, rows or columns than an import may have. */
  | 'csv-too-large';

export interface CsvProblem {
  /** Of the file, from 1, as an editor counts; none when the file as a whole is meant. */
  readonly line?: number;
  /** One sentence that can be read without the line beside it. */
  readonly message: string;
}

/** The file as a whole cannot be imported, and says why: nothing was spent on it. */
export class CsvRefused extends GlimpseError {
  override readonly name = 'CsvRefused';
  readonly code: CsvRefusal;
  readonly blame = 'permanent';
  readonly problems: readonly CsvProblem[];

  constructor(code: CsvRefusal, problems: readonly CsvProblem[]) {
    super(problems.map(({ message }) => message).join('; '));
    this.code = code;
    this.problems = problems;
  }
}

/** The refusal for what stands on a line: `saying` follows the words `line 7`. */
export function refusedAt(code: CsvRefusal, line: number, saying: string): CsvRefused {
  return new CsvRefused(code, [{ line, message: `line ${line} ${saying}` }]);
}

/** The refusal of the file as a whole. */
export function refusedFile(code: CsvRefusal, message: string): CsvRefused {
  return new CsvRefused(code, [{ message }]);
}
