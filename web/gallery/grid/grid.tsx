import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Config } from '../config.ts';
import type { Feed } from '../feed.ts';
import { hrefOf, titleOf } from '../route.ts';
import { useStore } from '../store.ts';
import { GridTile } from './grid-tile.tsx';
import { rowsBetween } from './layout.ts';
import { nextIndex } from './next-index.ts';
import { useRows, useWidth } from './use-rows.ts';
import { useWindow } from './use-window.ts';

const GAP = 6;

/** What is loaded ahead of the screen's end, in screens. */
const LOAD_AHEAD = 2;

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
  const rows = useRows(ratios, { width, rowHeight, gap: GAP }, more, {
    seen: seen.current,
    first: images[0]?.image,
  });
  const last = rows.at(-1);
  const height = last === undefined ? 0 : last.top + last.height;

  useEffect(() => {
    const ahead = (span.bottom - span.top) * (LOAD_AHEAD / 2.5);
    if (more && !loading && error === undefined && span.bottom + ahead > height) {
      void feed.loadMore();
    }
  });

  // One picture can be reached by Tab; arrows go from there.
  const [active, setActive] = useState(0);
  const wantsFocus = useRef(false);
  useEffect(() => {
    const index = returnTo === undefined ? -1 : feed.indexOf(returnTo);
    if (index < 0) return;
    wantsFocus.current = true;
    setActive(index);
  }, [returnTo]);

  const activeRow = rows.find(({ from, to }) => active >= from && active < to);
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
    setActive(next);
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
                  onFocus={setActive}
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
