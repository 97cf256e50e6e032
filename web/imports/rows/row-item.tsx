import { useRef } from 'preact/hooks';
import { Icon } from '../../shell/icon.tsx';
import type { RowView } from '../import-view.ts';
import { count as inWords, sentence } from '../in-words.ts';

export interface RowItemProps {
  /** In the list, from 1. */
  place: number;
  /** In the file; undefined while it is not known. */
  number: number | undefined;
  row: RowView | undefined;
  named: boolean;
  /** Pixels from the list's top. */
  top: number;
  count: number;
  active: boolean;
  pending: string;
  onFocus: (place: number) => void;
  onOpen: (row: RowView) => void;
}

/** A row with its summary, why it has none, or the place that waits for it. */
export function RowItem(props: RowItemProps) {
  const { place, number, row, named, top, count, active, pending, onFocus, onOpen } = props;
  const waited = useRef(row === undefined);
  const fresh = waited.current && row !== undefined ? ' fresh' : '';
  const name = number === undefined ? '' : inWords(number);
  return (
    <li aria-setsize={count} aria-posinset={place} style={{ transform: `translateY(${top}px)` }}>
      <button
        type="button"
        class={`row ${row?.state ?? 'pending'}${fresh}`}
        data-place={place}
        tabIndex={active ? 0 : -1}
        aria-disabled={row === undefined}
        aria-haspopup={row === undefined ? undefined : 'dialog'}
        onFocus={() => onFocus(place)}
        onClick={() => {
          if (row !== undefined) onOpen(row);
        }}
      >
        <span class="number">{name}</span>
        {named && (
          <span class="id" dir="auto" title={row?.id}>
            {row?.id}
          </span>
        )}
        {row === undefined ? (
          <span class="text">
            <span class="for-readers">{pending}</span>
          </span>
        ) : row.state === 'failed' ? (
          <span class="text">
            <Icon name="warning" />
            <span>
              <span class="for-readers">Failed. </span>
              {sentence(row.reason)}
            </span>
          </span>
        ) : (
          <span class="text" dir="auto">
            <span>{row.summary}</span>
          </span>
        )}
      </button>
    </li>
  );
}
