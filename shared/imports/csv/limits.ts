import { refusedFile } from './refused.ts';

/** What one file may hold; whole numbers from 1. */
export interface CsvLimits {
  readonly maxBytes: number;
  /** Without the header and blank lines. */
  readonly maxRows: number;
  readonly maxColumns: number;
  /** Of one cell, as workers have it: in UTF-16 units, as JavaScript and DynamoDB's clients count. */
  readonly maxFieldCharacters: number;
}

/**
 * What the cells of a row may have together, as a multiple of what one may have. Without it a row
 * of many columns, each within its own limit, could take as much memory as it likes.
 */
export const FIELDS_WORTH_A_ROW = 4;

/** What is kept of one cell for the export, as the same multiple. One such row is in memory at a time. */
export const FIELDS_WORTH_KEPT = 20;

/** A figure as people write it: `1,200,000`. */
export function figure(count: number): string {
  return count.toLocaleString('en-US');
}

/** A word with its number: `1 row`, `1,200 rows`. */
export function counted(count: number, word: string): string {
  return `${figure(count)} ${word}${count === 1 ? '' : 's'}`;
}

/** The same bytes, up to the limit. @throws CsvRefused at the first byte beyond it. */
export async function* limitBytes(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) {
      throw refusedFile(
        'csv-too-large',
        `expected a file of at most ${counted(maxBytes, 'byte')} and it has more`,
      );
    }
    yield chunk;
  }
}
