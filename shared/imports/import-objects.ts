// Where an import's objects are in its bucket. The lifecycle rules of the stack go by the folders.

export const SOURCES = 'sources/';
export const CHUNKS = 'chunks/';
export const EXPORTS = 'exports/';

export const sourceKey = (importId: string) => `${SOURCES}${importId}.csv`;

/** Whose source it is, or nothing where no import puts one there. */
export function importOfSource(key: string): string | undefined {
  return /^sources\/([0-9a-z]+)\.csv$/.exec(key)?.[1];
}

export const chunkObjectKey = (importId: string, chunk: number) =>
  `${CHUNKS}${importId}/${String(chunk).padStart(7, '0')}.jsonl`;
