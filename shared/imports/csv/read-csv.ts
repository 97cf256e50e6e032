import { parse } from 'csv-parse/sync';
import {
  type ColumnReport,
  ColumnTally,
  cutTo,
  isBlank,
  namesOf,
  quoted,
  sampleOf,
} from './columns.ts';
import { decode, type Piece } from './decode.ts';
import {
  DELIMITERS,
  type Delimiter,
  delimiterName,
  delimiterSchema,
  guessDelimiter,
  likelierDelimiter,
  sepLine,
} from './delimiter.ts';
import type { Encoding } from './encoding.ts';
import { IdTally } from './id-tally.ts';
import {
  type CsvLimits,
  counted,
  FIELDS_WORTH_A_ROW,
  FIELDS_WORTH_KEPT,
  figure,
  limitBytes,
} from './limits.ts';
import { CsvRefused, refusedAt, refusedFile } from './refused.ts';
import { type RecordMark, RecordSplitter, type Split } from './split-records.ts';

export interface CsvOptions {
  /** As the merchandiser states it; found out otherwise. */
  readonly encoding?: Encoding;
  readonly delimiter?: Delimiter;
  /** Of the column whose cells rows are known by: the report tells what is odd about them. */
  readonly idColumn?: string;
  readonly limits: CsvLimits;
}

export interface CsvRow {
  /** From 1; blank lines and the header are no rows. */
  readonly row: number;
  /** Of the file, from 1, as an editor counts, where the row starts. */
  readonly line: number;
  /** As many as the header, as text and untrimmed, none longer than it may be. */
  readonly cells: string[];
  /** The same as they are in the file, where some of them had to be cut. */
  readonly whole?: string[];
  /** Why this row cannot be summarised. Others go on. */
  readonly problem?: string;
}

export interface CsvWarning {
  readonly line: number;
  /** A sentence that can be read without the line beside it. */
  readonly message: string;
}

export interface CsvReport {
  readonly encoding: Encoding;
  readonly delimiter: Delimiter;
  readonly header: readonly string[];
  /** The first hundred. */
  readonly warnings: readonly CsvWarning[];
  readonly warningsTotal: number;
  readonly rows: number;
  /** Lines with nothing but delimiters and white space are blank too. */
  readonly blankLines: number;
  readonly columns: readonly ColumnReport[];
  /** The first five rows, each cell cut to 80 characters. */
  readonly preview: readonly Pick<CsvRow, 'line' | 'cells'>[];
}

export interface CsvFile {
  /** As far as the first rows tell: `utf-8` for ASCII, while a code page may yet come to light. */
  readonly encoding: Encoding;
  readonly delimiter: Delimiter;
  readonly header: readonly string[];
  /** To be read once, to its end; never an empty batch. @throws CsvRefused on the way, also at once. */
  readonly batches: AsyncIterable<CsvRow[]>;
  /** What has been read so far: complete after the last batch. */
  report(): CsvReport;
}

/** The delimiter is found out from so many characters. */
const HEAD_CHARACTERS = 65_536;
const MAX_WARNINGS = 100;
const PREVIEW_ROWS = 5;
/** Longer text in one cell is told of: a quote that should have closed it may be missing. */
const LONG_BREAKS = 100;

/**
 * Reads a table in text as it comes, in one pass and in memory that does not grow with it.
 *
 * Cells stay text. What is wrong with one row costs that row, and is told in its `problem` or in the
 * report's warnings. What makes every row doubtful refuses the file.
 *
 * @throws CsvRefused for what is known before the header; the batches throw it for the rest.
 */
export async function openCsv(
  source: AsyncIterable<Uint8Array>,
  { encoding, delimiter, idColumn, limits }: CsvOptions,
): Promise<CsvFile> {
  const pieces = decode(limitBytes(source, limits.maxBytes), encoding);
  try {
    const head = await take(pieces, HEAD_CHARACTERS);
    const text = head.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
    const reader = new Reader(settle(text, delimiter), limits, idColumn);
    const batches = readBatches(reader, head, pieces);
    const begun = await beginning(batches, reader);
    return {
      encoding: reader.encoding,
      delimiter: reader.delimiter,
      header: reader.header,
      batches: begun,
      report: () => reader.report(),
    };
  } catch (error) {
    await pieces.return(undefined);
    throw error;
  }
}

/**
 * The same batches, once the first has been read. What refuses the file behind its header is thrown by
 * them, so that whoever reads it can say what was understood before.
 */
async function beginning(
  batches: AsyncGenerator<CsvRow[]>,
  reader: Reader,
): Promise<AsyncGenerator<CsvRow[]>> {
  try {
    const first = await batches.next();
    return first.done ? batches : prepend(first.value, batches);
  } catch (error) {
    if (!(error instanceof CsvRefused) || reader.header.length === 0) throw error;
    return refusing(error);
  }
}

// biome-ignore lint/correctness/useYield: there is nothing before what it throws
async function* refusing(error: unknown): AsyncGenerator<CsvRow[]> {
  throw error;
}

/** The first pieces, with at least so many characters if there are. */
async function take(pieces: AsyncGenerator<Piece>, characters: number): Promise<Piece[]> {
  const taken: Piece[] = [];
  for (let length = 0; length < characters; ) {
    const next = await pieces.next();
    if (next.done) break;
    // A file may begin with its mark twice, after a round through two programs.
    const isFirst = length === 0 && next.value.kind === 'text';
    const piece = isFirst ? withoutMarks(next.value) : next.value;
    taken.push(piece);
    if (piece.kind === 'text') length += piece.text.length;
  }
  return taken;
}

function withoutMarks(piece: Piece): Piece {
  return piece.kind === 'text' ? { ...piece, text: piece.text.replace(/^\uFEFF+/, '') } : piece;
}

interface Dialect {
  readonly delimiter: Delimiter;
  /** The first line says the delimiter and is no header. */
  readonly hasSepLine: boolean;
  readonly warning?: string;
}

function settle(head: string, stated: Delimiter | undefined): Dialect {
  const said = sepLine(head);
  if (said === undefined) {
    const likelier = stated === undefined ? undefined : likelierDelimiter(head, stated);
    return {
      delimiter: stated ?? guessDelimiter(head),
      hasSepLine: false,
      ...(stated === undefined || likelier === undefined
        ? {}
        : {
            warning: `has one column with ${delimiterName(stated)}, as stated: ${delimiterName(likelier)} divides all lines alike, so state that if it is meant`,
          }),
    };
  }
  const known = delimiterSchema.safeParse(said);
  if (stated !== undefined) {
    const warning = `says sep=${said}, and ${delimiterName(stated)} was stated`;
    return { delimiter: stated, hasSepLine: true, ...(said === stated ? {} : { warning }) };
  }
  if (known.success) return { delimiter: known.data, hasSepLine: true };
  throw refusedAt(
    'csv-delimiter',
    1,
    `says sep=${said}: expected one of ${DELIMITERS.map(delimiterName).join(' ')}`,
  );
}

async function* readBatches(
  reader: Reader,
  head: readonly Piece[],
  rest: AsyncGenerator<Piece>,
): AsyncGenerator<CsvRow[]> {
  try {
    for (const piece of head) yield* reader.read(piece);
    for await (const piece of rest) yield* reader.read(piece);
    yield* reader.end();
  } finally {
    await rest.return(undefined);
  }
}

async function* prepend<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

/** Text in, rows out, and the report on them. */
class Reader {
  readonly #dialect: Dialect;
  readonly #limits: CsvLimits;
  readonly #splitter: RecordSplitter;
  /** Of one cell. */
  readonly #kept: number;
  readonly #warnings: CsvWarning[] = [];
  #warningsTotal = 0;
  #encoding: Encoding = 'utf-8';
  #header: readonly string[] | undefined;
  #tallies: readonly ColumnTally[] = [];
  readonly #preview: Pick<CsvRow, 'line' | 'cells'>[] = [];
  #rows = 0;
  #blankLines = 0;

  readonly #ids: IdTally | undefined;
  readonly #idColumn: string;
  #idIndex = -1;

  constructor(dialect: Dialect, limits: CsvLimits, idColumn = '') {
    this.#dialect = dialect;
    this.#idColumn = idColumn.trim();
    this.#ids = this.#idColumn === '' ? undefined : new IdTally(this.#idColumn);
    this.#limits = limits;
    const { maxFieldCharacters, maxColumns } = limits;
    this.#kept = maxFieldCharacters * FIELDS_WORTH_KEPT;
    this.#splitter = new RecordSplitter(
      dialect.delimiter,
      this.#kept,
      maxColumns,
      // Beside one cell of which all is kept there is room for the others.
      this.#kept + maxFieldCharacters * FIELDS_WORTH_A_ROW,
    );
    if (dialect.warning !== undefined) this.#warn(1, dialect.warning);
  }

  get encoding(): Encoding {
    return this.#encoding;
  }

  get delimiter(): Delimiter {
    return this.#dialect.delimiter;
  }

  get header(): readonly string[] {
    return this.#header ?? [];
  }

  /** The rows that end in this piece, all of them also if it turns out that the file must be refused. */
  *read(piece: Piece): Generator<CsvRow[]> {
    switch (piece.kind) {
      case 'encoding':
        this.#encoding = piece.encoding;
        return;
      case 'warning':
        this.#warn(this.#splitter.line, piece.saying);
        return;
      case 'refusal':
        throw refusedAt(piece.code, this.#splitter.line, piece.saying);
      case 'text':
        yield* this.#rowsOf(this.#splitter.push(piece.text));
    }
  }

  *end(): Generator<CsvRow[]> {
    yield* this.#rowsOf(this.#splitter.end());
    if (this.#header === undefined) {
      throw refusedFile(
        'csv-empty',
        `expected a header and rows and the file ${this.#blankLines > 0 ? 'has only blank lines' : 'is empty'}`,
      );
    }
    if (this.#rows === 0) {
      throw refusedFile('csv-no-rows', 'expected rows and the file has a header but no rows');
    }
  }

  report(): CsvReport {
    const ofIds = this.#ids?.warnings() ?? [];
    return {
      encoding: this.#encoding,
      delimiter: this.delimiter,
      header: this.header,
      // Of the file as a whole: however many lines are odd, these are among those told.
      warnings: [...ofIds, ...this.#warnings].slice(0, MAX_WARNINGS),
      warningsTotal: this.#warningsTotal + ofIds.length,
      rows: this.#rows,
      blankLines: this.#blankLines,
      columns: this.#tallies.map((tally) => tally.report()),
      preview: [...this.#preview],
    };
  }

  *#rowsOf({ text, records }: Split): Generator<CsvRow[]> {
    const rows: CsvRow[] = [];
    let refusal: unknown;
    try {
      parseCells(text, this.delimiter, records.length).forEach((cells, index) => {
        const record = records[index];
        const row = record && this.#take(record, cells);
        if (row !== undefined) rows.push(row);
      });
    } catch (error) {
      refusal = error;
    }
    if (rows.length > 0) yield rows;
    if (refusal !== undefined) throw refusal;
    const quote = this.#splitter.brokenQuote;
    if (quote !== undefined) {
      throw refusedAt(
        'csv-quote',
        quote,
        'has an unclosed quote: expected a second quote before the next delimiter or line end',
      );
    }
  }

  /** The row that a record is; none if it is blank, the header, or the line that says the delimiter. */
  #take(record: RecordMark, cells: string[]): CsvRow | undefined {
    if (record.line === 1 && this.#dialect.hasSepLine) return undefined;
    if (cells.every(isBlank)) {
      this.#blankLines += 1;
      return undefined;
    }
    this.#warnOfQuotes(record);
    if (this.#header === undefined) {
      this.#takeHeader(record, cells);
      return undefined;
    }
    if (this.#rows === this.#limits.maxRows) {
      throw refusedAt(
        'csv-too-large',
        record.line,
        `begins another row: expected at most ${counted(this.#limits.maxRows, 'row')}`,
      );
    }
    const whole = this.#fit(record, cells);
    const fitted = this.#cut(whole);
    const isCut = fitted.some((cell, index) => cell !== whole[index]);
    if (isCut) this.#warnOfLength(record, whole);
    fitted.forEach((cell, index) => {
      this.#tallies[index]?.add(cell, lengthOf(record, index, whole[index]));
    });
    if (this.#idIndex >= 0) this.#ids?.add(fitted[this.#idIndex] ?? '', record.line);
    this.#rows += 1;
    if (this.#rows <= PREVIEW_ROWS) {
      this.#preview.push({ line: record.line, cells: fitted.map(sampleOf) });
    }
    const problem = this.#problemOf(record);
    return {
      row: this.#rows,
      line: record.line,
      cells: fitted,
      ...(isCut ? { whole } : {}),
      ...(problem === undefined ? {} : { problem }),
    };
  }

  #takeHeader({ line, fields, excess }: RecordMark, cells: string[]): void {
    if (fields > this.#limits.maxColumns) {
      throw refusedAt(
        'csv-too-large',
        line,
        `has ${counted(fields, 'column')}: expected at most ${figure(this.#limits.maxColumns)}`,
      );
    }
    const { maxFieldCharacters } = this.#limits;
    if (excess !== undefined || cells.some(({ length }) => length > maxFieldCharacters)) {
      throw refusedAt(
        'csv-too-large',
        line,
        `is no header: expected names of at most ${counted(maxFieldCharacters, 'character')}`,
      );
    }
    const { header, warnings } = namesOf(cells, line);
    for (const warning of warnings) this.#warn(line, warning);
    this.#header = header;
    this.#idIndex = header.indexOf(this.#idColumn);
    this.#tallies = header.map((name) => new ColumnTally(name));
  }

  /** As many cells as the header has. */
  #fit({ line, fields }: RecordMark, cells: string[]): string[] {
    const { length } = this.header;
    if (fields !== length) {
      const left = cells.slice(length).filter((cell) => !isBlank(cell));
      this.#warn(
        line,
        `has ${figure(fields)} of ${figure(length)} fields${left.length > 0 ? `: left out ${quoted(left.join(' '))}` : ''}`,
      );
    }
    return Array.from({ length }, (_, index) => cutTo(cells[index] ?? '', this.#kept));
  }

  /** What workers have of the cells: none longer than it may be, nor all of them together. */
  #cut(cells: readonly string[]): string[] {
    const { maxFieldCharacters } = this.#limits;
    let left = maxFieldCharacters * FIELDS_WORTH_A_ROW;
    return cells.map((cell) => {
      const cut = cutTo(cell, Math.min(maxFieldCharacters, left));
      left -= cut.length;
      return cut;
    });
  }

  #problemOf({ line, excess, fields }: RecordMark): string | undefined {
    const { maxFieldCharacters, maxColumns } = this.#limits;
    switch (excess?.of) {
      case undefined:
      case 'field':
        return undefined;
      case 'row': {
        const most = this.#kept + maxFieldCharacters * FIELDS_WORTH_A_ROW;
        const problem = `more characters in all than expected: at most ${figure(most)}`;
        this.#warn(line, `cannot be summarised: it has ${problem}`);
        return `the row has ${problem}`;
      }
      case 'fields': {
        const problem = `${counted(fields, 'field')}: expected at most ${figure(maxColumns)}`;
        this.#warn(line, `cannot be summarised: it has ${problem}`);
        return `the row has ${problem}`;
      }
    }
  }

  /** Of what workers do not have the whole of: each cell that is too long, or the row. */
  #warnOfLength(record: RecordMark, whole: readonly string[]): void {
    const { maxFieldCharacters } = this.#limits;
    if (whole.every(({ length }) => length <= maxFieldCharacters)) {
      const characters = whole.reduce((all, { length }) => all + length, 0);
      this.#warn(
        record.line,
        `has ${counted(characters, 'character')} in all: the model is shown some of the first ${figure(maxFieldCharacters * FIELDS_WORTH_A_ROW)}, the export has all of them`,
      );
    }
    whole.forEach((cell, index) => {
      const length = lengthOf(record, index, cell);
      if (length <= maxFieldCharacters) return;
      const exported =
        length === cell.length
          ? 'the export has all of it'
          : `the export has the first ${figure(cell.length)}`;
      this.#warn(
        record.line,
        `has ${counted(length, 'character')} in ${quoted(this.header[index] ?? '')}: the model is shown some of the first ${figure(maxFieldCharacters)}, ${exported}`,
      );
    });
  }

  #warnOfQuotes({ line, hasStrayQuote, breaksInField }: RecordMark): void {
    if (hasStrayQuote) {
      this.#warn(
        line,
        'has a quote within a quoted field that is not doubled: it was kept as it is',
      );
    }
    if (breaksInField > LONG_BREAKS) {
      this.#warn(
        line,
        `begins a row with a field of ${counted(breaksInField + 1, 'line')}: is a quote missing?`,
      );
    }
  }

  #warn(line: number, saying: string): void {
    this.#warningsTotal += 1;
    if (this.#warnings.length < MAX_WARNINGS) {
      this.#warnings.push({ line, message: `line ${line} ${saying}` });
    }
  }
}

/** Of a cell as it is in the file, of which what is too long was never read. */
function lengthOf({ excess }: RecordMark, index: number, cell = ''): number {
  return excess?.of === 'field' && excess.field === index ? excess.characters : cell.length;
}

/** The cells of whole records, of which there are exactly so many. */
function parseCells(text: string, delimiter: Delimiter, records: number): string[][] {
  if (records === 0) return [];
  const cells = parse(text, {
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
  });
  // Line numbers and limits are the splitter's: were the two to differ, they would be another row's.
  if (cells.length !== records) {
    throw new Error(`Expected ${records} records of the CSV parser, got ${cells.length}.`);
  }
  return cells;
}
