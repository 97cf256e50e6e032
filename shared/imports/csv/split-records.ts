import { FIELDS_WORTH_A_ROW } from './limits.ts';

/** What is known of a record before its cells are taken apart. */
export interface RecordMark {
  /** Where it starts. */
  readonly line: number;
  /** As many as the file has, also those that were left out of the text. */
  readonly fields: number;
  /** An empty line. */
  readonly isEmpty: boolean;
  readonly excess?: Excess;
  /** A quoted field goes on behind its closing quote: `"19" monitor"`. */
  readonly hasStrayQuote: boolean;
  /** The line breaks within the quoted field that has most of them. */
  readonly breaksInField: number;
}

/** What a record has too much of. */
export type Excess =
  /** `field` from 0. */
  | { readonly of: 'field'; readonly field: number; readonly characters: number }
  | { readonly of: 'row' }
  | { readonly of: 'fields' };

export interface Split {
  /** Whole records, each with its line end: exactly as many as there are marks. */
  readonly text: string;
  readonly records: readonly RecordMark[];
}

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;

/** Where in a field the last character left us. */
type Place = 'start' | 'plain' | 'quoted' | 'after-quote';

/**
 * Divides text into records ahead of the parser, which knows none of what an import has to be told:
 * the lines of the file (csv-parse counts a CR LF within quotes twice), where a quote was opened,
 * and when a field has outgrown its limit, whose rest is left out so that memory stays flat.
 *
 * It follows csv-parse's rules to the letter, with `relax_quotes` and all three line ends: a quote
 * opens a field only as its first character, and closes it before a delimiter or a line end.
 */
export class RecordSplitter {
  readonly #delimiter: number;
  readonly #maxFieldCharacters: number;
  readonly #maxRecordCharacters: number;
  readonly #maxFields: number;

  #line = 1;
  /** A CR at the end of a piece: the next may begin with its LF. */
  #held = '';
  #brokenQuote: number | undefined;

  #place: Place = 'start';
  #quoteLine = 0;
  /** Of the field's content up to the last change of place. */
  #fieldCharacters = 0;

  #recordLine = 1;
  #fields = 1;
  #recordCharacters = 0;
  #excess: Excess | undefined;
  #hasStrayQuote = false;
  #breaksInField = 0;

  /** Text of the record that is not complete yet, from earlier pieces. */
  #open: string[] = [];
  /** What is being left out. */
  #leftOut: 'nothing' | 'field' | 'record' = 'nothing';

  /** @param maxFields of a record; `maxFieldCharacters` of a field, in UTF-16 units. */
  constructor(
    delimiter: string,
    maxFieldCharacters: number,
    maxFields: number,
    maxRecordCharacters = maxFieldCharacters * FIELDS_WORTH_A_ROW,
  ) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#maxFieldCharacters = maxFieldCharacters;
    this.#maxRecordCharacters = maxRecordCharacters;
    this.#maxFields = maxFields;
  }

  /** The line that the text so far has reached. */
  get line(): number {
    return this.#line + (this.#held === '' ? 0 : 1);
  }

  /**
   * The line of a quote that cannot be right, because it is closed nowhere or, lines later, in the
   * middle of a field. No record after it can be trusted, and none is given.
   */
  get brokenQuote(): number | undefined {
    return this.#brokenQuote;
  }

  /** The records that end in this piece of text, which must not be cut within a surrogate pair. */
  push(piece: string): Split {
    const text = this.#held + piece;
    this.#held = text.endsWith('\r') ? '\r' : '';
    return this.#split(this.#held === '' ? text : text.slice(0, -1));
  }

  /** The last record, if the file does not end in a line end. */
  end(): Split {
    const held = this.#held;
    this.#held = '';
    const last = held === '' ? undefined : this.#split(held);
    if (this.#place === 'quoted') this.#brokenQuote ??= this.#quoteLine;
    if (last !== undefined) return last;
    const isWithin = this.#place !== 'start' || this.#fields > 1;
    return isWithin ? this.#split('\n') : { text: '', records: [] };
  }

  #split(text: string): Split {
    if (text === '') return { text, records: [] };
    const out: string[] = [];
    const records: RecordMark[] = [];
    // Where the text begins that is neither in `out` nor in `#open`, and how much of it is records.
    let from = 0;
    let whole = 0;
    /** Where the field's content begins that is not counted yet. */
    let run = 0;

    const keep = (to: number) => {
      if (this.#leftOut !== 'nothing') return;
      if (whole > from) {
        out.push(text.slice(from, whole));
        from = whole;
      }
      if (to > from) this.#open.push(text.slice(from, to));
      from = to;
    };
    const endField = (at: number) => {
      if (this.#leftOut === 'field') {
        if (this.#place === 'after-quote') this.#open.push('"');
        this.#leftOut = 'nothing';
        from = at;
      }
      if (this.#fieldCharacters > this.#maxFieldCharacters) {
        this.#excess ??= {
          of: 'field',
          field: this.#fields - 1,
          characters: this.#fieldCharacters,
        };
      }
      this.#recordCharacters += Math.min(this.#fieldCharacters, this.#maxFieldCharacters);
      if (this.#recordCharacters > this.#maxRecordCharacters) this.#excess ??= { of: 'row' };
      this.#fieldCharacters = 0;
      this.#place = 'start';
    };
    const nextField = (at: number) => {
      endField(at);
      this.#fields += 1;
      if (this.#leftOut === 'record') return;
      const isTooWide = this.#fields > this.#maxFields;
      if (!isTooWide && this.#recordCharacters <= this.#maxRecordCharacters) return;
      if (isTooWide) this.#excess ??= { of: 'fields' };
      keep(at);
      this.#leftOut = 'record';
    };
    const endRecord = (at: number, after: number) => {
      const isEmpty = this.#place === 'start' && this.#fields === 1;
      endField(at);
      if (this.#leftOut === 'record') {
        this.#leftOut = 'nothing';
        from = at;
      }
      if (this.#open.length > 0) {
        out.push(...this.#open, text.slice(from, after));
        this.#open = [];
        from = after;
      }
      whole = after;
      records.push({
        line: this.#recordLine,
        fields: this.#fields,
        isEmpty,
        ...(this.#excess === undefined ? {} : { excess: this.#excess }),
        hasStrayQuote: this.#hasStrayQuote,
        breaksInField: this.#breaksInField,
      });
      this.#line += 1;
      this.#recordLine = this.#line;
      this.#fields = 1;
      this.#recordCharacters = 0;
      this.#excess = undefined;
      this.#hasStrayQuote = false;
      this.#breaksInField = 0;
    };

    for (let at = 0; at < text.length && this.#brokenQuote === undefined; at += 1) {
      const unit = text.charCodeAt(at);
      const isBreak = unit === LF || unit === CR;
      const last = unit === CR && text.charCodeAt(at + 1) === LF ? at + 1 : at;
      switch (this.#place) {
        case 'start':
        case 'plain':
          if (unit === this.#delimiter || isBreak) {
            if (this.#place === 'plain') this.#fieldCharacters += at - run;
            if (isBreak) endRecord(at, last + 1);
            else nextField(at);
            at = last;
          } else if (this.#place === 'start') {
            this.#place = unit === QUOTE ? 'quoted' : 'plain';
            if (unit === QUOTE) this.#quoteLine = this.#line;
            run = unit === QUOTE ? at + 1 : at;
          }
          break;
        case 'quoted':
          if (unit === QUOTE) {
            this.#fieldCharacters += at - run;
            this.#place = 'after-quote';
          } else if (isBreak) {
            this.#line += 1;
            at = last;
          }
          break;
        case 'after-quote':
          if (unit === QUOTE) {
            this.#fieldCharacters += 1;
            this.#place = 'quoted';
            run = at + 1;
          } else if (unit === this.#delimiter || isBreak) {
            this.#breaksInField = Math.max(this.#breaksInField, this.#line - this.#quoteLine);
            if (isBreak) endRecord(at, last + 1);
            else nextField(at);
            at = last;
          } else if (this.#line > this.#quoteLine) {
            this.#brokenQuote = this.#quoteLine;
          } else {
            // The parser now takes the field for unquoted, and both quotes for data; before a NUL,
            // which it mistakes for the end of the text, the quotes still count as quotes. What is
            // left out must lead it the same way, so something stands for what follows the quote.
            this.#hasStrayQuote = true;
            if (this.#leftOut === 'field') this.#open.push(unit === 0 ? '"' : '" ');
            if (unit !== 0) this.#fieldCharacters += 2;
            this.#place = 'plain';
            run = at;
          }
          break;
      }
    }

    if (this.#place === 'plain' || this.#place === 'quoted') {
      this.#fieldCharacters += text.length - run;
    }
    const isOutgrown =
      this.#leftOut === 'nothing' &&
      this.#place !== 'start' &&
      this.#fieldCharacters > this.#maxFieldCharacters;
    // A quote at the end may be half of a doubled one: what is kept must not end between the two.
    keep(isOutgrown && this.#place === 'after-quote' ? text.length - 1 : text.length);
    if (isOutgrown) this.#leftOut = 'field';
    return { text: out.join(''), records };
  }
}
