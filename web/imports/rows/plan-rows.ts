// Which rows to ask for, so that those on screen come and nothing comes twice.

/** The API gives no more at a time. */
export const MOST_ROWS = 100;

/** Rows from and to, both of them included, from 1. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Ask {
  /** The row after which they begin. */
  readonly after: number;
  readonly limit: number;
}

/**
 * The rows from the first that is missing to the last, as far as one request goes; undefined where
 * none is.
 */
export function planRows({ from, to }: Span, isThere: (row: number) => boolean): Ask | undefined {
  let first = from;
  while (first <= to && isThere(first)) first += 1;
  if (first > to) return undefined;
  let last = Math.min(to, first + MOST_ROWS - 1);
  while (isThere(last)) last -= 1;
  return { after: first - 1, limit: last - first + 1 };
}
