import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useStore } from '../../shell/store.ts';
import { Trouble } from '../../shell/trouble.tsx';
import type { RowView } from '../import-view.ts';
import { RowDialog } from './row-dialog.tsx';
import { RowItem } from './row-item.tsx';
import type { RowSource } from './row-source.ts';
import { useFollow } from './use-follow.ts';
import { useTrack } from './use-track.ts';

/** CSS pixels, as in the style sheet: three lines beside the number, or four below it. */
const ROW_HEIGHT = { wide: 88, narrow: 140 } as const;
const NARROW = '(max-width: 640px)';

export interface RowsProps {
  source: RowSource;
  label: string;
  /** The place up to which rows are written, where one may follow how they appear. */
  frontier: number | undefined;
  /** Whether rows have names beside their numbers. */
  named: boolean;
  /** What is said of a row without a summary. */
  pending: string;
}

/** A list of rows of which only those on screen are in the document. */
export function Rows({ source, label, frontier, named, pending }: RowsProps) {
  const { error } = useStore(source);
  const list = useRef<HTMLUListElement>(null);
  const rowHeight = useNarrow() ? ROW_HEIGHT.narrow : ROW_HEIGHT.wide;
  const { count } = source;
  const track = useTrack(list, count, rowHeight);
  const { from, to } = track.span;
  useEffect(() => source.show({ from, to }), [source, from, to]);

  const [open, setOpen] = useState<RowView | undefined>(undefined);
  const { following, follow } = useFollow(frontier, open !== undefined, track.reveal);

  // One row can be reached by Tab; arrows go from there.
  const [activePlace, setActive] = useState(1);
  const active = Math.min(activePlace, Math.max(1, count));
  const wantsFocus = useRef(false);
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    const row = list.current?.querySelector<HTMLElement>(`[data-place="${active}"]`);
    if (row == null) return;
    wantsFocus.current = false;
    row.focus({ preventScroll: true });
    track.reveal(active, 'instant');
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = nextPlace(event.key, active, count);
    if (next === undefined) return;
    event.preventDefault();
    wantsFocus.current = true;
    setActive(next);
  };

  // With the separators of thousands.
  const digits = count.toLocaleString().length + 0.5;
  const places = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  // The focused row stays, wherever one scrolls, or its focus would be lost.
  if (count > 0 && (active < from || active > to)) places.push(active);
  return (
    <>
      <p id="row-keys" class="for-readers">
        Arrow keys move between rows, Enter opens one.
      </p>
      <ul
        ref={list}
        class={named ? 'rows named' : 'rows'}
        aria-label={label}
        aria-describedby="row-keys"
        style={{ height: `${track.height}px`, '--numbers': `${digits}ch` }}
        onKeyDown={onKeyDown}
      >
        {places.map((place) => (
          <RowItem
            key={place}
            place={place}
            number={source.numberAt(place)}
            row={source.at(place)}
            named={named}
            top={track.top(place)}
            count={count}
            active={place === active}
            pending={pending}
            onFocus={setActive}
            onOpen={setOpen}
          />
        ))}
      </ul>
      {error !== undefined && <Trouble error={error} onRetry={source.again} />}
      {frontier !== undefined && frontier < count && !following && (
        <button type="button" class="follow" onClick={follow}>
          Follow new rows
        </button>
      )}
      {open !== undefined && <RowDialog row={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

/** Where a key leads; undefined where it is no key of the list's. */
function nextPlace(key: string, place: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowUp':
      return Math.max(1, place - 1);
    case 'ArrowDown':
      return Math.min(count, place + 1);
    case 'Home':
      return 1;
    case 'End':
      return count;
    default:
      return undefined;
  }
}

function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const look = () => setNarrow(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, []);
  return narrow;
}
