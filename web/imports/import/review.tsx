import { useState } from 'preact/hooks';
import type { Reading } from '../api.ts';
import type { ImportView } from '../import-view.ts';
import { rowsInWords } from '../in-words.ts';
import { type Draft, objectionTo } from './draft.ts';
import { EstimateCard } from './estimate-card.tsx';
import { FailureNotice } from './notices.tsx';
import { ReadAgain } from './read-again.tsx';
import { SettingsForm } from './settings-form.tsx';
import { Understood } from './understood.tsx';
import type { Estimated } from './use-estimate.ts';

export interface ReviewProps {
  view: ImportView;
  draft: Draft;
  estimated: Estimated;
  before: Reading;
  hasFile: boolean;
  busy: boolean;
  refused: string | undefined;
  onDraft: (draft: Draft) => void;
  onRead: (reading: Reading, file?: File) => void;
  onStart: () => void;
  onCancel: () => void;
}

/** What was read, before anything is spent: one looks, chooses and starts. */
export function Review(props: ReviewProps) {
  const { view, draft, estimated, busy, refused } = props;
  const { report, rows, settings, failure } = view;
  const [unread, setUnread] = useState(false);
  const objection = unread
    ? 'Read the file again, or leave how it is read as it was.'
    : objectionTo(draft);
  return (
    <div class="review">
      <div class="read">
        {failure !== undefined && <FailureNotice failure={failure} title="It was held back" />}
        {report !== undefined && <Understood report={report} />}
        <SettingsForm view={view} draft={draft} disabled={busy} onChange={props.onDraft} />
        <ReadAgain
          report={report}
          before={props.before}
          hasFile={props.hasFile}
          busy={busy}
          onRead={props.onRead}
          onChanged={setUnread}
        />
      </div>
      <aside class="start-card" aria-label="Estimate">
        <EstimateCard estimated={estimated} />
        <button
          type="button"
          class="main"
          disabled={busy || objection !== undefined}
          onClick={props.onStart}
        >
          Summarise {rowsInWords(rows.total)}
        </button>
        {(objection ?? refused) !== undefined && (
          <p class="error" role="alert">
            {objection ?? refused}
          </p>
        )}
        <p class="quiet">
          {settings.model === undefined ? '' : `By ${settings.model}. `}
          Nothing is spent before you start.
        </p>
        <button type="button" class="link" disabled={busy} onClick={props.onCancel}>
          Discard this import
        </button>
      </aside>
    </div>
  );
}
