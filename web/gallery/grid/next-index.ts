import type { Row } from './layout.ts';

/**
 * Where a key leads from one picture: undefined where it is no key of the grid's. `placed` is the
 * number of pictures in rows.
 */
export function nextIndex(
  key: string,
  index: number,
  rows: readonly Row[],
  placed: number,
): number | undefined {
  const within = (at: number) => Math.min(placed - 1, Math.max(0, at));
  switch (key) {
    case 'ArrowLeft':
      return within(index - 1);
    case 'ArrowRight':
      return within(index + 1);
    case 'ArrowUp':
      return neighbour(index, rows, -1);
    case 'ArrowDown':
      return neighbour(index, rows, 1);
    case 'Home':
      return within(0);
    case 'End':
      return within(placed - 1);
    default:
      return undefined;
  }
}

/** The picture in the next row whose middle is nearest. */
function neighbour(index: number, rows: readonly Row[], step: number): number {
  const at = rows.findIndex(({ from, to }) => index >= from && index < to);
  const here = rows[at]?.tiles.find((tile) => tile.index === index);
  const there = rows[at + step];
  if (here === undefined || there === undefined) return index;
  const middle = here.left + here.width / 2;
  const distance = ({ left, width }: (typeof there.tiles)[number]) =>
    Math.abs(left + width / 2 - middle);
  return there.tiles.reduce((best, tile) => (distance(tile) < distance(best) ? tile : best)).index;
}
