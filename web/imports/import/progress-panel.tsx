import type { ImportsApi } from '../api.ts';
import { type ImportView, isOver, written } from '../import-view.ts';
import { count, money, rowsInWords, timeInWords } from '../in-words.ts';
import { ProgressBar } from '../progress-bar.tsx';
import { StateChip } from '../state-chip.tsx';
import { ExportButtons } from './export-buttons.tsx';

export interface ProgressPanelProps {
  api: ImportsApi;
  view: ImportView;
  now: number;
  busy: boolean;
  /** Why it cannot be resumed as things are. */
  objection: string | undefined;
  refused: string | undefined;
  onPause: () => void;
  onResume: () => void;
  onRetry: () => void;
  onCancel: () => void;
}

/** How far it is, and what can be done about it; stays in view while one reads the rows. */
export function ProgressPanel(props: ProgressPanelProps) {
  const { api, view, now, busy, objection, refused } = props;
  const { state, rows, usage } = view;
  const over = isOver(state);
  const ended = written(rows);
  const time = timeInWords(view, now);
  const retryable = rows.failed > 0 && (state === 'completed-with-failures' || state === 'paused');
  return (
    <section class="panel" aria-label="Progress">
      <div class="figures">
        <StateChip view={view} />
        <strong>
          {ended === rows.total
            ? rowsInWords(rows.total)
            : `${count(ended)} of ${rowsInWords(rows.total)}`}
        </strong>
        {rows.failed > 0 && <span class="error">{count(rows.failed)} failed</span>}
        {time !== '' && <span>{time}</span>}
        {usage.costUsd > 0 && <span>{money(usage.costUsd)}</span>}
      </div>
      <div class="actions">
        {state === 'running' && (
          <button type="button" disabled={busy} onClick={props.onPause}>
            Pause
          </button>
        )}
        {state === 'paused' && (
          <button
            type="button"
            class="main"
            disabled={busy || objection !== undefined}
            onClick={props.onResume}
          >
            Resume
          </button>
        )}
        {retryable && (
          <button type="button" class={over ? 'main' : ''} disabled={busy} onClick={props.onRetry}>
            Retry {rows.failed === 1 ? 'the failed row' : `${count(rows.failed)} failed rows`}
          </button>
        )}
        {state !== 'running' && ended > 0 && <ExportButtons api={api} view={view} />}
        {!over && (
          <button type="button" disabled={busy} onClick={props.onCancel}>
            Cancel
          </button>
        )}
      </div>
      <ProgressBar rows={rows} label={`Progress of ${view.name}`} />
      {(objection ?? refused) !== undefined && (
        <p class="refused error" role="alert">
          {objection ?? refused}
        </p>
      )}
    </section>
  );
}
