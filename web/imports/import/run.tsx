import { useEffect, useMemo, useRef } from 'preact/hooks';
import { followed } from '../../shell/followed.ts';
import type { ImportsApi } from '../api.ts';
import { type ImportView, isOver } from '../import-view.ts';
import { count, moment, money, tokens } from '../in-words.ts';
import { hrefOf, type Route } from '../route.ts';
import { createAllRows } from '../rows/all-rows.ts';
import { createFailedRows } from '../rows/failed-rows.ts';
import { progressOf } from '../rows/row-source.ts';
import { Rows } from '../rows/rows.tsx';
import type { Go } from '../use-route.ts';
import { type Draft, objectionTo } from './draft.ts';
import { FailureNotice, StalledNotice, StillNotice, Waits } from './notices.tsx';
import { ProgressPanel } from './progress-panel.tsx';
import { CostField, SettingsForm } from './settings-form.tsx';
import { Understood } from './understood.tsx';

export interface RunProps {
  api: ImportsApi;
  view: ImportView;
  draft: Draft;
  filter: Route['rows'];
  now: number;
  busy: boolean;
  refused: string | undefined;
  go: Go;
  onDraft: (draft: Draft) => void;
  onPause: () => void;
  onResume: () => void;
  onRetry: () => void;
  onCancel: () => void;
}

/** An import whose rows are under way, or were. */
export function Run(props: RunProps) {
  const { api, view, draft, filter, now, go } = props;
  const { importId, state, rows, failure, still, stalled, report, settings } = view;
  const all = useMemo(() => createAllRows((asked) => api.rows(importId, asked)), [api, importId]);
  const failed = useMemo(
    () => createFailedRows((asked) => api.rows(importId, { ...asked, state: 'failed' })),
    [api, importId],
  );
  const source = filter === 'failed' ? failed : all;
  const progress = progressOf(view);
  useEffect(
    () => source.told(progress),
    [source, progress.total, progress.written, progress.failed, progress.over],
  );
  const paused = state === 'paused';
  // Whoever followed the rows sees the last of them too, which come with the end.
  const isWatched = useRef(false);
  isWatched.current ||= state === 'running';
  const front =
    state === 'running'
      ? (view.front ?? 0)
      : isWatched.current && progress.over && progress.written === rows.total
        ? rows.total
        : undefined;
  const objection = paused ? objectionTo(draft) : undefined;
  const filters = [
    { rows: 'all', title: 'All rows', number: rows.total },
    { rows: 'failed', title: 'Failed', number: rows.failed },
  ] as const;
  return (
    <>
      <ProgressPanel
        api={api}
        view={view}
        now={now}
        busy={props.busy}
        objection={objection}
        refused={props.refused}
        onPause={props.onPause}
        onResume={props.onResume}
        onRetry={props.onRetry}
        onCancel={props.onCancel}
      />
      {failure !== undefined && (
        <FailureNotice
          failure={failure}
          title={paused ? 'Glimpse has paused it' : 'It could not be finished'}
        >
          {failure.code === 'budget-spent' && paused && (
            <CostField draft={draft} disabled={props.busy} onChange={props.onDraft} />
          )}
        </FailureNotice>
      )}
      {stalled !== undefined && state === 'running' && (
        <StalledNotice stalled={stalled} now={now} />
      )}
      {still !== undefined && stalled === undefined && <StillNotice still={still} now={now} />}
      {state === 'running' && <Waits view={view} />}
      <details class="details">
        <summary>{paused ? 'What was read, and what the model is asked' : 'Details'}</summary>
        <Facts view={view} />
        {report !== undefined && <Understood report={report} />}
        <SettingsForm
          view={view}
          draft={draft}
          disabled={!paused || props.busy}
          onChange={props.onDraft}
        />
      </details>
      <nav class="filters" aria-label="Which rows">
        {filters.map(({ rows: which, title, number }) => (
          <a
            key={which}
            href={hrefOf({ importId, rows: which })}
            aria-current={filter === which ? 'true' : undefined}
            onClick={followed(() => {
              if (filter !== which) go({ importId, rows: which });
            })}
          >
            {title} <span>{count(number)}</span>
          </a>
        ))}
      </nav>
      {filter === 'failed' && rows.failed === 0 ? (
        <div class="empty">
          <h2>{isOver(state) ? 'No row has failed' : 'No row has failed so far'}</h2>
        </div>
      ) : (
        <Rows
          key={filter}
          source={source}
          label={filter === 'failed' ? 'Failed rows' : 'Rows'}
          frontier={filter === 'all' ? front : undefined}
          named={settings.idColumn !== undefined}
          pending={isOver(state) ? 'not summarised' : 'not summarised yet'}
        />
      )}
    </>
  );
}

function Facts({ view }: { view: ImportView }) {
  const { usage, settings, mode, startedAt, completedAt } = view;
  const facts: readonly (readonly [string, string])[] = [
    ['Model', settings.model ?? ''],
    ['Mode', mode === 'bulk' ? 'in the background' : 'while somebody watches'],
    ['Cost so far', money(usage.costUsd)],
    ['Tokens in', tokens(usage.inputTokens)],
    ['Tokens out', tokens(usage.outputTokens)],
    ['Started', startedAt === undefined ? '' : moment(startedAt)],
    ['Ended', completedAt === undefined ? '' : moment(completedAt)],
    ['Rows are known by', settings.idColumn ?? 'their number'],
  ];
  return (
    <dl class="understood">
      {facts
        .filter(([, value]) => value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
