import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../../shell/icon.tsx';
import type { RowView } from '../import-view.ts';
import { count, sentence } from '../in-words.ts';

/** The whole of a row that the list has no room for. */
export function RowDialog({ row, onClose }: { row: RowView; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class="ask row-dialog"
      aria-labelledby="row-title"
      onClose={onClose}
      closedby="any"
    >
      <article>
        <header>
          <h2 id="row-title">
            Row {count(row.row)}
            {row.id !== '' && row.id !== String(row.row) && <small dir="auto">{row.id}</small>}
          </h2>
          <button
            type="button"
            class="icon-only"
            aria-label="Close"
            onClick={() => dialog.current?.close()}
          >
            <Icon name="close" />
          </button>
        </header>
        {row.state === 'failed' ? (
          <>
            <p class="error">This row has no summary.</p>
            <p>{sentence(row.reason)}</p>
          </>
        ) : (
          <p dir="auto">{row.summary}</p>
        )}
      </article>
    </dialog>
  );
}
