import * as z from 'zod';
import { RecordSplitter } from './split-records.ts';

/** In the order of preference, should two fit equally. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;

export type Delimiter = (typeof DELIMITERS)[number];

export const delimiterSchema = z.enum(DELIMITERS);

/** As a sentence can show it. */
export function delimiterName(delimiter: string): string {
  return delimiter === '\t' ? 'tab' : JSON.stringify(delimiter);
}

/**
 * What Excel's first line `sep=;` says, and Excel itself obeys and hides; undefined if the file has
 * no such line.
 */
export function sepLine(head: string): string | undefined {
  return /^(?:"sep=(.)"|sep=(.))(?:[\r\n]|$)/i.exec(head)?.slice(1).find(Boolean);
}

/** How many records are compared. */
const COMPARED = 50;

/**
 * The delimiter under which the most records have as many fields as the first, and more fields
 * rather than fewer; a comma if none divides the first record: the file has one column.
 */
export function guessDelimiter(head: string): Delimiter {
  let best: { delimiter: Delimiter; score: number } = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    const score = consistency(head, delimiter);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

/**
 * The delimiter that is evidently meant where another was stated that divides nothing: under it every
 * record has as many fields as the first, and there are two records at least to tell by.
 */
export function likelierDelimiter(head: string, stated: Delimiter): Delimiter | undefined {
  if (fieldsOf(head, stated).some((fields) => fields > 1)) return undefined;
  const guessed = guessDelimiter(head);
  const [first = 1, ...others] = fieldsOf(head, guessed);
  const isEven = others.length > 0 && others.every((fields) => fields === first);
  return guessed !== stated && first > 1 && isEven ? guessed : undefined;
}

function consistency(head: string, delimiter: Delimiter): number {
  const [first, ...others] = fieldsOf(head, delimiter);
  if (first === undefined || first < 2) return 0;
  const alike = 1 + others.filter((fields) => fields === first).length;
  return (alike / (1 + others.length)) * (1 - 1 / first);
}

/** Of the first records, without those that are empty. */
function fieldsOf(head: string, delimiter: Delimiter): number[] {
  const splitter = new RecordSplitter(delimiter, head.length, Number.POSITIVE_INFINITY);
  const { records } = splitter.push(head);
  // The last record may be cut off, and is all there is when there is only a header.
  const whole = records.length > 0 ? records : splitter.end().records;
  const compared = whole.filter(({ isEmpty }) => !isEmpty).slice(0, COMPARED);
  return compared.map(({ fields }) => fields);
}
