import type { Row } from '../grid/layout.ts';

/** CSS pixels. */
const WIDEST = 300;
const GAP = 16;

/** A card's picture is 4:3, and its name is a line of its own. */
const NAME_HEIGHT = 44;

/** Rows of equal cards, as many a row as have room. */
export function layoutCards(count: number, width: number): Row[] {
  if (width === 0) return [];
  const columns = Math.max(2, Math.ceil((width + GAP) / (WIDEST + GAP)));
  const across = Math.floor((width - GAP * (columns - 1)) / columns);
  const height = Math.round(across * 0.75) + NAME_HEIGHT;
  return Array.from({ length: Math.ceil(count / columns) }, (_, row) => {
    const from = row * columns;
    const to = Math.min(count, from + columns);
    const top = row * (height + GAP);
    const tiles = Array.from({ length: to - from }, (_unused, column) => ({
      index: from + column,
      left: column * (across + GAP),
      top,
      width: across,
      height,
    }));
    return { from, to, top, height, tiles };
  });
}
