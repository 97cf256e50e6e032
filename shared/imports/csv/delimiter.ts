import { z } from 'zod';
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

function consistency(head: string, delimiter: Delimiter): number {
  const splitter = new RecordSplitter(delimiter, head.length, Number.POSITIVE_INFINITY);
  const { records } = splitter.push(head);
  // The last record may be cut off, and is all there is when there is only a header.
  const whole = records.length > 0 ? records : splitter.end().records;
  const [first, ...others] = whole.filter(({ isEmpty }) => !isEmpty).slice(0, COMPARED);
  if (first === undefined || first.fields < 2) return 0;
  const alike = 1 + others.filter(({ fields }) => fields === first.fields).length;
  return (alike / (1 + others.length)) * (1 - 1 / first.fields);
}
