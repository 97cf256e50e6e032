import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { View } from '../../glimpse-image/view.ts';
import { layoutRows, type Row } from './layout.ts';

export interface Shape {
  readonly width: number;
  readonly rowHeight: number;
  readonly gap: number;
}

/** The width that an element has, kept up to date. */
export function useWidth(): [ref: { current: HTMLUListElement | null }, width: number] {
  const ref = useRef<HTMLUListElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    setWidth(element.clientWidth);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

interface Laid {
  readonly rows: readonly Row[];
  readonly shape: Shape;
  /** The first picture's key: with another, all have other places. */
  readonly first: string | undefined;
}

/**
 * The rows of a growing list. Those that reach into what was seen (`seen` pixels from the top) keep
 * their places whatever becomes known of their pictures; those below are laid out anew. With another
 * width or another first picture all are, and `before` is how they were.
 */
export function useRows(
  images: readonly View[],
  ratios: readonly number[],
  shape: Shape,
  { more, seen }: { more: boolean; seen: number },
): { rows: readonly Row[]; before: Laid | undefined } {
  const last = useRef<Laid | undefined>(undefined);
  const { width, rowHeight, gap } = shape;
  if (width === 0) return { rows: [], before: undefined };
  const laid = last.current;
  const first = images[0]?.image;
  const anew =
    laid === undefined ||
    laid.first !== first ||
    laid.shape.width !== width ||
    laid.shape.rowHeight !== rowHeight;
  const kept = anew ? [] : laid.rows.filter((row) => row.top < seen && !isOpen(row, laid, ratios));
  const end = kept.at(-1);
  const start =
    end === undefined ? { from: 0, top: 0 } : { from: end.to, top: end.top + end.height + gap };
  const rows = [...kept, ...layoutRows(ratios, { width, rowHeight, gap, more }, start)];
  last.current = { rows, shape, first };
  return { rows, before: anew ? laid : undefined };
}

/** The last row of all, which was not full, and now others follow. */
function isOpen(row: Row, { rows }: Laid, ratios: readonly number[]): boolean {
  return row === rows.at(-1) && row.to < ratios.length;
}
