import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError } from '../../shell/api-error.ts';
import { followed } from '../../shell/followed.ts';
import { presence } from '../../shell/presence.ts';
import { useStore } from '../../shell/store.ts';
import { Trouble } from '../../shell/trouble.tsx';
import type { ImportsApi, Reading } from '../api.ts';
import { type ImportView, isBegun, written } from '../import-view.ts';
import { ago, holdInWords, moment, newsOf, percent } from '../in-words.ts';
import { importName } from '../picked-csv.ts';
import { hrefOf, type Route } from '../route.ts';
import { StateChip } from '../state-chip.tsx';
import type { Transfers } from '../transfers.ts';
import { reasonOf } from '../use-intake.ts';
import { AGES, SECONDS, useNow } from '../use-now.ts';
import type { Go } from '../use-route.ts';
import { createWatch } from '../watch-import.ts';
import { ConfirmCancel } from './confirm-cancel.tsx';
import { type Draft, draftOf, objectionTo, wishesOf } from './draft.ts';
import { Refused } from './refused.tsx';
import { Review } from './review.tsx';
import { Run } from './run.tsx';
import { Sending } from './sending.tsx';
import { useEstimate } from './use-estimate.ts';

export interface ImportPageProps {
  api: ImportsApi;
  transfers: Transfers;
  importId: string;
  filter: Route['rows'];
  go: Go;
}

/** One import, from its file to its last row. */
export function ImportPage(props: ImportPageProps) {
  const { api, transfers, importId, go } = props;
  const watch = useMemo(() => createWatch(api, importId, presence), [api, importId]);
  const { view, error } = useStore(watch);
  const transfer = useStore(transfers).byImport.get(importId);
  useEffect(() => watch.start(), [watch]);
  useEffect(() => {
    if (transfer?.state === 'sent') watch.look();
  }, [watch, transfer?.state]);
  useEffect(() => {
    document.title = view === undefined ? 'Import · Glimpse' : titleOf(view);
  }, [view]);

  return (
    <main class="imports">
      <nav aria-label="Where you are">
        <a href={hrefOf({})} onClick={followed(() => go({}))}>
          Imports
        </a>
      </nav>
      {view !== undefined && <Opened {...props} watch={watch} view={view} />}
      {view === undefined && error === undefined && (
        <p class="quiet">
          {transfer === undefined ? 'Looking for the import…' : 'Sending the file…'}
        </p>
      )}
      {view === undefined && error?.status === 404 ? (
        <div class="empty">
          <h1>There is no such import</h1>
          <p>Imports are kept for a time and then deleted. Its address may be mistyped, too.</p>
        </div>
      ) : (
        error !== undefined && <Trouble error={error} onRetry={watch.look} />
      )}
    </main>
  );
}

function titleOf(view: ImportView): string {
  const { state, rows, name } = view;
  const share = state === 'running' ? `${percent(written(rows), rows.total)} · ` : '';
  return `${share}${name} · Imports · Glimpse`;
}

interface OpenedProps extends ImportPageProps {
  watch: ReturnType<typeof createWatch>;
  view: ImportView;
}

function Opened({ api, transfers, importId, filter, go, watch, view }: OpenedProps) {
  const { acting, refused: refusal } = useStore(watch);
  const transfer = useStore(transfers).byImport.get(importId);
  const now = useNow(view.still === undefined ? AGES : SECONDS);
  const [confirming, setConfirming] = useState(false);
  const [replacing, setReplacing] = useState(false);
  const [replaceError, setReplaceError] = useState<string | undefined>(undefined);
  const { state, settings, report, name, createdAt } = view;
  const columns = report?.columns ?? [];

  const [edited, setEdited] = useState<Draft | undefined>(undefined);
  const draft = edited ?? draftOf(settings, columns);
  const wishes = wishesOf(draft, settings, columns);
  const reviewed = state === 'paused' && !isBegun(view);
  const estimated = useEstimate(
    api,
    view,
    reviewed && objectionTo(draft) === undefined ? wishes : undefined,
  );
  const busy = acting !== undefined || replacing;
  const refused = replaceError ?? (refusal === undefined ? undefined : reasonOf(refusal));

  const resume = async () => {
    // What was asked for is then what the API knows.
    if (await watch.act('resume', wishes)) setEdited(undefined);
  };
  const cancel = () => {
    transfers.drop(importId);
    void watch.act('cancel');
  };
  /** The file once more, in another way or another file: a new import in this one's place. */
  const readAgain = async (reading: Reading, chosen?: File) => {
    const file = chosen ?? transfer?.file;
    if (file === undefined) return;
    setReplacing(true);
    setReplaceError(undefined);
    try {
      const wanted = {
        name: chosen === undefined ? name : importName(chosen.name),
        mode: view.mode,
        ...reading,
        ...(wishes.instructions === undefined ? {} : { instructions: wishes.instructions }),
      };
      const instead = state === 'failed' || state === 'cancelled' ? undefined : importId;
      go({ importId: await transfers.begin(file, wanted, instead) }, 'replace');
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setReplaceError(reasonOf(error));
      setReplacing(false);
    }
  };
  const before: Reading = transfer?.wanted ?? {
    ...(settings.idColumn === undefined ? {} : { idColumn: settings.idColumn }),
  };

  return (
    <>
      <h1 dir="auto">{name}</h1>
      <p class="meta">
        {!isBegun(view) && <StateChip view={view} />}
        <time dateTime={new Date(createdAt).toISOString()} title={moment(createdAt)}>
          added {ago(createdAt, now)}
        </time>
      </p>
      <p class="for-readers" role="status">
        {newsOf(view)}
      </p>
      {state === 'awaiting-upload' ? (
        <Sending
          view={view}
          transfer={transfer}
          onSendAgain={() => void readAgain(before)}
          onCancel={cancel}
        />
      ) : state === 'reading' ? (
        <div class="stage">
          <h2>Reading the file</h2>
          <progress aria-label="Reading the file" />
          <p>Every line is looked at once. A large file takes a minute or two.</p>
          <p class="quiet">{holdInWords(view)}</p>
          <div class="actions">
            <button type="button" disabled={busy} onClick={cancel}>
              Cancel
            </button>
          </div>
        </div>
      ) : reviewed ? (
        <Review
          view={view}
          draft={draft}
          estimated={estimated}
          before={before}
          hasFile={transfer !== undefined}
          busy={busy}
          refused={refused}
          onDraft={setEdited}
          onRead={(reading, file) => void readAgain(reading, file)}
          onStart={() => void resume()}
          onCancel={() => setConfirming(true)}
        />
      ) : state === 'failed' && !isBegun(view) ? (
        <>
          <Refused
            view={view}
            before={before}
            hasFile={transfer !== undefined}
            busy={busy}
            onRead={(reading, file) => void readAgain(reading, file)}
          />
          {refused !== undefined && (
            <p class="error" role="alert">
              {refused}
            </p>
          )}
        </>
      ) : state === 'cancelled' && !isBegun(view) ? (
        <div class="stage">
          <h2>It was cancelled before it began</h2>
          <p>Nothing was sent to the model, and nothing was spent.</p>
        </div>
      ) : (
        <Run
          api={api}
          view={view}
          draft={draft}
          filter={filter}
          now={now}
          busy={busy}
          refused={refused}
          go={go}
          onDraft={setEdited}
          onPause={() => void watch.act('pause')}
          onResume={() => void resume()}
          onRetry={() => void watch.act('retry')}
          onCancel={() => setConfirming(true)}
        />
      )}
      {confirming && (
        <ConfirmCancel view={view} onCancel={cancel} onClose={() => setConfirming(false)} />
      )}
    </>
  );
}
