// Where an import's objects are in its bucket. The lifecycle rules of the stack go by the folders.

const SOURCES = 'sources/';
const CHUNKS = 'chunks/';
const EXPORTS = 'exports/';

export const sourceKey = (importId: string) => `${SOURCES}${importId}.csv`;

/** Whose source it is, or nothing where no import puts one there. */
export function importOfSource(key: string): string | undefined {
  return /^sources\/([0-9a-z]+)\.csv$/.exec(key)?.[1];
}

/**
 * Of one source: whoever still reads a file that was replaced meanwhile writes beside what is read of
 * its successor.
 */
export const chunkObjectKey = ({ importId, etag = 'none' }: SourceName, chunk: number) =>
  `${CHUNKS}${importId}/${etag}/${String(chunk).padStart(7, '0')}.jsonl`;

/** Of a row whose chunk has not all of its cells. */
export const wholeRowKey = ({ importId, etag = 'none' }: SourceName, row: number) =>
  `${CHUNKS}${importId}/${etag}/whole/${String(row).padStart(8, '0')}.json`;

/** An import, and the file that it is read from. */
export interface SourceName {
  importId: string;
  etag?: string | undefined;
}

/** What an import has come to names its export: as long as that is the same, so is the file. */
export interface ExportName {
  importId: string;
  round: number;
  /** Rows; or, while they still change, the moment in epoch milliseconds. */
  of: { done: number; failed: number } | { moment: number };
  onlyFailed: boolean;
}

export function exportKey({ importId, round, of, onlyFailed }: ExportName): string {
  const what = 'moment' in of ? minuteOf(of.moment) : `${of.done}-${of.failed}`;
  return `${EXPORTS}${importId}/${round}-${what}${onlyFailed ? '-only-failed' : ''}.csv`;
}

/** `20260131T2359Z` */
const minuteOf = (moment: number) =>
  `${new Date(moment).toISOString().slice(0, 16).replaceAll(/[-:]/g, '')}Z`;
