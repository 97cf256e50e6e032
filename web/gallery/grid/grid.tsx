import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Config } from '../../shell/config.ts';
import { useStore } from '../../shell/store.ts';
import type { Feed } from '../feed.ts';
import { hrefOf, titleOf } from '../route.ts';
import { useRestoredScroll } from '../use-restored-scroll.ts';
import { GridTile } from './grid-tile.tsx';
import { rowOf, rowsBetween } from './layout.ts';
import { nextIndex } from './next-index.ts';
import { useRows, useWidth } from './use-rows.ts';
import { useWindow } from './use-window.ts';

const GAP = 6;

/** What is loaded ahead of the window's end, in screens. */
const LOAD_AHEAD = 1.5;

/** As long as the style sheet takes to move tiles aside. */
const MOVE_MS = 250;

export interface GridProps {
  config: Config;
  gallery: string;
  feed: Feed;
  /** Told which picture is to be shown large. */
  onOpen: (image: string) => void;
  /** A picture to come back to, from the large view. */
  returnTo: string | undefined;
}

export function Grid({ config, gallery, feed, onOpen, returnTo }: GridProps) {
  const { images, ratios, more, loading, error } = useStore(feed);
  const [list, width] = useWidth();
  const span = useWindow(list);
  const seen = useRef(0);
  const rowHeight = width < 560 ? 132 : width < 1000 ? 190 : 236;
  seen.current = Math.max(seen.current, span.bottom);
  const shape = { width, rowHeight, gap: GAP };
  const { rows, before } = useRows(images, ratios, shape, { more, seen: seen.current });
  const last = rows.at(-1);
  const height = last === undefined ? 0 : last.top + last.height;

  // Pictures that come in above, or a window of another width, leave what is looked at in its place.
  const anchor = useRef<{ image: string; scrollY: number } | undefined>(undefined);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null || before?.first === undefined) return;
    const added = Math.max(0, feed.indexOf(before.first));
    const top = -element.getBoundingClientRect().top;
    if (top <= 0) {
      if (added > 0) moveAside(element);
      return;
    }
    const { current } = anchor;
    const kept = current !== undefined && Math.abs(current.scrollY - scrollY) < 1;
    const index = kept
      ? feed.indexOf(current.image) - added
      : (rowsBetween(before.rows, top, top)[0]?.from ?? 0);
    const then = rowOf(before.rows, index);
    const now = rowOf(rows, index + added);
    if (then === undefined || now === undefined) return;
    scrollBy(0, now.top - then.top);
    // A window that changes its width step by step goes by the same picture at each.
    anchor.current = { image: images[index + added]?.image ?? '', scrollY };
  }, [before]);

  useEffect(() => {
    const end = span.bottom + LOAD_AHEAD * innerHeight;
    if (more && !loading && error === undefined && end > height) {
      void feed.loadMore();
    }
  });

  useRestoredScroll(height, { more, loading }, () => void feed.loadMore());

  // One picture can be reached by Tab; arrows go from there.
  const [activeImage, setActiveImage] = useState<string | undefined>(undefined);
  const active = activeImage === undefined ? 0 : Math.max(0, feed.indexOf(activeImage));
  const wantsFocus = useRef(false);
  useEffect(() => {
    if (returnTo === undefined || feed.indexOf(returnTo) < 0) return;
    wantsFocus.current = true;
    setActiveImage(returnTo);
  }, [returnTo]);

  const activeRow = rowOf(rows, active);
  useLayoutEffect(() => {
    if (!wantsFocus.current || activeRow === undefined) return;
    wantsFocus.current = false;
    const link = list.current?.querySelector<HTMLElement>(`[data-index="${active}"]`);
    link?.focus({ preventScroll: true });
    link?.scrollIntoView({ block: 'nearest' });
  });

  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    const told = ({ detail: { view } }: HTMLElementEventMap['glimpse-change']) => {
      if (view !== undefined) feed.update(view);
    };
    element.addEventListener('glimpse-change', told);
    return () => element.removeEventListener('glimpse-change', told);
  }, [feed]);

  const shown = rowsBetween(rows, span.top, span.bottom);
  // The focused picture stays, wherever one scrolls, or its focus would be lost.
  if (activeRow !== undefined && !shown.includes(activeRow)) shown.push(activeRow);
  const placed = last?.to ?? 0;
  const total = more ? -1 : images.length;

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = nextIndex(event.key, active, rows, placed);
    if (next === undefined) return;
    event.preventDefault();
    wantsFocus.current = true;
    setActiveImage(images[next]?.image);
  };

  return (
    <>
      <p id="grid-keys" class="for-readers">
        Arrow keys move between pictures, Enter opens one.
      </p>
      <ul
        ref={list}
        class="grid"
        aria-label={`Pictures in ${gallery === '' ? 'no folder' : gallery}`}
        aria-describedby="grid-keys"
        aria-busy={loading}
        style={{ height: `${height}px` }}
        onKeyDown={onKeyDown}
      >
        {shown.flatMap(({ tiles }) =>
          tiles.map((tile) => {
            const view = images[tile.index];
            return (
              view !== undefined && (
                <GridTile
                  key={view.image}
                  tile={tile}
                  view={view}
                  config={config}
                  href={hrefOf({ gallery, image: view.image })}
                  title={titleOf(view.image)}
                  total={total}
                  active={tile.index === Math.min(active, placed - 1)}
                  onFocus={setActiveImage}
                  onOpen={onOpen}
                />
              )
            );
          }),
        )}
      </ul>
    </>
  );
}

function moveAside(grid: HTMLElement): void {
  grid.classList.add('moving');
  setTimeout(() => grid.classList.remove('moving'), MOVE_MS);
}
