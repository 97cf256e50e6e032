// Where a row is: rows and chunks count from 1, pages too. A chunk is a message; a page is a partition
// of the table, and what is summed at once when progress is read.

export const CHUNKS_A_PAGE = 100;

/** How an import's rows are cut. Fixed once it has been read. */
export interface Layout {
  total: number;
  chunkRows: number;
}

export const chunksOf = ({ total, chunkRows }: Layout): number => Math.ceil(total / chunkRows);

export const pagesOf = (layout: Layout): number => Math.ceil(chunksOf(layout) / CHUNKS_A_PAGE);

export const chunkOfRow = ({ chunkRows }: Layout, row: number): number =>
  Math.ceil(row / chunkRows);

export const pageOfChunk = (chunk: number): number => Math.ceil(chunk / CHUNKS_A_PAGE);

export const pageOfRow = (layout: Layout, row: number): number =>
  pageOfChunk(chunkOfRow(layout, row));

export interface Span {
  /** Both are included. */
  first: number;
  last: number;
}

export function rowsOfChunk({ total, chunkRows }: Layout, chunk: number): Span {
  const first = (chunk - 1) * chunkRows + 1;
  return { first, last: Math.min(first + chunkRows - 1, total) };
}

export function chunksOfPage(layout: Layout, page: number): Span {
  const first = (page - 1) * CHUNKS_A_PAGE + 1;
  return { first, last: Math.min(first + CHUNKS_A_PAGE - 1, chunksOf(layout)) };
}

export const lengthOf = ({ first, last }: Span): number => last - first + 1;
