import { useEffect, useRef } from 'preact/hooks';
import type { ImportView } from '../import-view.ts';
import { written } from '../import-view.ts';
import { rowsInWords } from '../in-words.ts';

export interface ConfirmCancelProps {
  view: ImportView;
  onCancel: () => void;
  onClose: () => void;
}

/** Asks first: a cancelled import cannot be gone on with. */
export function ConfirmCancel({ view, onCancel, onClose }: ConfirmCancelProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { rows } = view;
  const left = rows.total - written(rows);
  return (
    <dialog ref={dialog} class="ask" aria-labelledby="cancel-title" onClose={onClose}>
      <h2 id="cancel-title">Cancel this import?</h2>
      <p>
        {rows.done > 0 && `${rowsInWords(rows.done)} are summarised and stay. `}
        {rows.total > 0 && `${rowsInWords(left)} will not be. `}A cancelled import cannot be
        resumed.
      </p>
      <div class="actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          Keep it
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => {
            onCancel();
            dialog.current?.close();
          }}
        >
          Cancel the import
        </button>
      </div>
    </dialog>
  );
}
