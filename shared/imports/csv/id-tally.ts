import { isBlank, quoted } from './columns.ts';
import { counted, figure } from './limits.ts';

/** Lines that are named in a message. */
const NAMED = 5;
/** Some 60 bytes each in memory: of the ids behind them, nobody knows whether they were there before. */
const MOST_COMPARED = 1_000_000;

/** What is odd about the ids of a file's rows. Rows are kept apart by their number all the same. */
export class IdTally {
  readonly #column: string;
  /** The line of each id's first row, by what stands for the id. */
  readonly #lines = new Map<number, number>();
  readonly #empty: Found = { count: 0, lines: [] };
  readonly #repeated: Found = { count: 0, lines: [] };
  /** The line of the row whose id the first of those has. */
  #original = 0;

  constructor(column: string) {
    this.#column = column;
  }

  add(id: string, line: number): void {
    if (isBlank(id)) {
      note(this.#empty, line);
      return;
    }
    const key = hash(id);
    const first = this.#lines.get(key);
    if (first === undefined) {
      if (this.#lines.size < MOST_COMPARED) this.#lines.set(key, line);
      return;
    }
    if (this.#repeated.count === 0) this.#original = first;
    note(this.#repeated, line);
  }

  /** One for each kind, however many rows are meant. */
  warnings(): { line: number; message: string }[] {
    const name = quoted(this.#column);
    const original = `, the first of them that of line ${this.#original}`;
    return [
      ...warn(this.#empty, `no ${name} and are known by their number`, ''),
      ...warn(this.#repeated, `the ${name} of an earlier row`, original),
    ];
  }
}

interface Found {
  count: number;
  readonly lines: number[];
}

function note(found: Found, line: number): void {
  found.count += 1;
  if (found.lines.length < NAMED) found.lines.push(line);
}

function warn({ count, lines }: Found, what: string, more: string) {
  const [line] = lines;
  if (line === undefined) return [];
  const rest = count > lines.length ? ` and ${figure(count - lines.length)} more` : '';
  const where = `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}${rest}`;
  const have = count === 1 ? 'has' : 'have';
  const said = count === 1 ? what.replace('are known by their', 'is known by its') : what;
  return [{ line, message: `${counted(count, 'row')} ${have} ${said}: ${where}${more}` }];
}

/** 53 bits of FNV-1a, twice: of a million different ids, two are taken for one once in twenty thousand files. */
function hash(text: string): number {
  let one = 0x811c9dc5;
  let other = 0x9dc5811c;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit, 0x85ebca6b);
  }
  return (one >>> 0) * 0x200000 + (other >>> 11);
}
