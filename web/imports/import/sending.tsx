import type { ImportView } from '../import-view.ts';
import { holdInWords, transferInWords } from '../in-words.ts';
import type { Transfer } from '../transfers.ts';

export interface SendingProps {
  view: ImportView;
  transfer: Transfer | undefined;
  onSendAgain: () => void;
  onCancel: () => void;
}

/** The file is on its way, or somebody else's browser has it. */
export function Sending({ view, transfer, onSendAgain, onCancel }: SendingProps) {
  if (transfer === undefined) {
    return (
      <div class="stage">
        <h2>Its file has not come</h2>
        <p>
          Another window may be sending it. If that window was closed, cancel this import and drop
          the file again.
        </p>
        <p class="quiet">{holdInWords(view)}</p>
        <div class="actions">
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        </div>
      </div>
    );
  }
  const { state, sent, bytes, trouble } = transfer;
  if (state === 'failed') {
    return (
      <div class="stage" role="alert">
        <h2>The file was not sent</h2>
        <p>{trouble}</p>
        <div class="actions">
          <button type="button" class="main" onClick={onSendAgain}>
            Send it again
          </button>
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        </div>
      </div>
    );
  }
  const { title, detail } = transferInWords(transfer);
  return (
    <div class="stage">
      <h2>{title}</h2>
      <progress aria-label="Sending the file" max={bytes} value={sent} />
      <p class="amounts">{detail}</p>
      <p class="quiet">{holdInWords(view)}</p>
      {state === 'sending' && (
        <div class="actions">
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        </div>
      )}
    </div>
  );
}
