// Justified rows: each as wide as the page, its pictures of one height and whole.

export interface Tile {
  readonly index: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Row {
  /** The first picture, and the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly height: number;
  readonly tiles: readonly Tile[];
}

export interface LayoutOptions {
  /** CSS pixels, all of them. */
  readonly width: number;
  readonly rowHeight: number;
  readonly gap: number;
  /** More pictures will follow, so a last row that is not full waits for them. */
  readonly more: boolean;
}

/** Beyond these a picture is cropped: a sliver cannot be seen, and a strip fills a row by itself. */
const RATIOS = { least: 0.4, most: 3.5 } as const;

/** The last row is stretched to the page's width if that makes it at most this much taller. */
const TALLEST = 1.35;

export function clampRatio(ratio: number): number {
  return Math.min(RATIOS.most, Math.max(RATIOS.least, ratio));
}

/**
 * Lays out the pictures from `start.from` on. What lies above was laid out before and stays as it is:
 * rows that someone sees, or has seen, do not move.
 */
export function layoutRows(
  ratios: readonly number[],
  { width, rowHeight, gap, more }: LayoutOptions,
  start: { from: number; top: number } = { from: 0, top: 0 },
): Row[] {
  const rows: Row[] = [];
  let { from, top } = start;
  while (from < ratios.length) {
    const { to, closed } = endOfRow(ratios, from, width, rowHeight, gap);
    if (!closed && more) break;
    const shares = ratios.slice(from, to).map(clampRatio);
    const room = width - gap * (shares.length - 1);
    const fitting = room / shares.reduce((sum, ratio) => sum + ratio, 0);
    // The last row of all is not blown up to the page's width.
    const full = closed || fitting <= rowHeight * TALLEST;
    const height = Math.round(full ? fitting : rowHeight);
    rows.push({
      from,
      to,
      top,
      height,
      tiles: placeTiles(shares, { from, top, height, width, gap, full }),
    });
    top += height + gap;
    from = to;
  }
  return rows;
}

/** The row takes another picture while that brings its height nearer to the one wished. */
function endOfRow(
  ratios: readonly number[],
  from: number,
  width: number,
  rowHeight: number,
  gap: number,
): { to: number; closed: boolean } {
  let sum = 0;
  let before = Number.POSITIVE_INFINITY;
  for (let to = from; to < ratios.length; to += 1) {
    sum += clampRatio(ratios[to] ?? 1);
    const height = (width - gap * (to - from)) / sum;
    if (height <= rowHeight) {
      const nearer = rowHeight - height <= before - rowHeight;
      return { to: nearer || to === from ? to + 1 : to, closed: true };
    }
    before = height;
  }
  return { to: ratios.length, closed: false };
}

function placeTiles(
  shares: readonly number[],
  {
    from,
    top,
    height,
    width,
    gap,
    full,
  }: Omit<Row, 'to' | 'tiles'> & { width: number; gap: number; full: boolean },
): Tile[] {
  let left = 0;
  return shares.map((ratio, offset) => {
    const last = full && offset === shares.length - 1;
    // Whole pixels keep edges sharp; the last of a row takes what rounding left.
    const tileWidth = last ? width - left : Math.round(ratio * height);
    const tile = { index: from + offset, left, top, width: tileWidth, height };
    left += tileWidth + gap;
    return tile;
  });
}

/** The rows that lie between two heights. */
export function rowsBetween(rows: readonly Row[], top: number, bottom: number): Row[] {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle];
    if (row !== undefined && row.top + row.height < top) low = middle + 1;
    else high = middle;
  }
  const found: Row[] = [];
  for (let at = low; at < rows.length; at += 1) {
    const row = rows[at];
    if (row === undefined || row.top > bottom) break;
    found.push(row);
  }
  return found;
}

/** The row that a picture is in. */
export function rowOf(rows: readonly Row[], index: number): Row | undefined {
  return rows.find(({ from, to }) => index >= from && index < to);
}
