import { useLayoutEffect, useRef, useState } from 'preact/hooks';
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

/**
 * The rows of a growing list. Those that reach into what was seen (`seen` pixels from the top) keep
 * their places whatever becomes known of their pictures; those below are laid out anew.
 */
export function useRows(
  ratios: readonly number[],
  shape: Shape,
  more: boolean,
  { seen, first }: { seen: number; first: unknown },
): Row[] {
  const last = useRef<{ rows: Row[]; shape: Shape; first: unknown } | undefined>(undefined);
  const { width, rowHeight, gap } = shape;
  if (width === 0) return [];
  const before = last.current;
  const same =
    before !== undefined &&
    before.first === first &&
    before.shape.width === width &&
    before.shape.rowHeight === rowHeight;
  // A last row that was not full is laid out again as soon as pictures follow.
  const kept = same
    ? before.rows.filter(({ top, to }, index) => {
        const open = index === before.rows.length - 1 && to < ratios.length;
        return top < seen && !open;
      })
    : [];
  const end = kept.at(-1);
  const start =
    end === undefined ? { from: 0, top: 0 } : { from: end.to, top: end.top + end.height + gap };
  const rows = [...kept, ...layoutRows(ratios, { width, rowHeight, gap, more }, start)];
  last.current = { rows, shape, first };
  return rows;
}
