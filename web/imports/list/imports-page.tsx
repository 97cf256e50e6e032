import { useEffect, useRef } from 'preact/hooks';
import { followed } from '../../shell/followed.ts';
import { useStore } from '../../shell/store.ts';
import { Trouble } from '../../shell/trouble.tsx';
import { type ImportInList, isBegun, isOver, written } from '../import-view.ts';
import { ago, count, moment, money, percent, rowsInWords, timeInWords } from '../in-words.ts';
import { ProgressBar } from '../progress-bar.tsx';
import { hrefOf, type Route } from '../route.ts';
import { StateChip } from '../state-chip.tsx';
import type { Transfer, Transfers } from '../transfers.ts';
import type { Intake } from '../use-intake.ts';
import { useNow } from '../use-now.ts';
import type { Go } from '../use-route.ts';
import { DropZone } from './drop-zone.tsx';
import type { ImportList } from './import-list.ts';

export interface ImportsPageProps {
  list: ImportList;
  /** Whose are shown; one's own, unless it is said. */
  of: Route['of'];
  transfers: Transfers;
  intake: Intake;
  go: Go;
}

/** Where imports begin, and all of them so far. */
export function ImportsPage({ list, of, transfers, intake, go }: ImportsPageProps) {
  const { imports, operator, more, loadingMore, error } = useStore(list);
  // The next list does not know it yet, and the focus is on what would go until it does.
  const wasOperator = useRef(false);
  wasOperator.current ||= operator;
  const { byImport } = useStore(transfers);
  const now = useNow();
  useEffect(() => list.start(), [list]);
  const isNotTheirs = of === 'everyone' && error?.status === 403;
  useEffect(() => {
    // A link that an operator has passed on.
    if (isNotTheirs) go({}, 'replace');
  }, [isNotTheirs]);
  return (
    <main class="imports">
      <h1>Imports</h1>
      <DropZone intake={intake} />
      {wasOperator.current && <Whose of={of} go={go} />}
      {imports === undefined && error === undefined && <p class="quiet">Looking for imports…</p>}
      {imports?.length === 0 && (
        <div class="empty">
          <h2>No imports yet</h2>
          <p>
            A catalogue as CSV becomes a summary for each of its rows. The first one begins with a
            file that is dropped here.
          </p>
        </div>
      )}
      {error !== undefined && <Trouble error={error} onRetry={list.look} />}
      {imports !== undefined && imports.length > 0 && (
        <>
          <ul class="import-list" aria-label="Imports">
            {imports.map((view) => (
              <ImportCard
                key={view.importId}
                view={view}
                transfer={byImport.get(view.importId)}
                now={now}
                go={go}
              />
            ))}
          </ul>
          {more && (
            <button
              type="button"
              class="more"
              disabled={loadingMore}
              onClick={() => void list.loadMore()}
            >
              {loadingMore ? 'Loading…' : 'Show older imports'}
            </button>
          )}
        </>
      )}
    </main>
  );
}

const WHOSE = [
  { of: undefined, title: 'Mine' },
  { of: 'everyone', title: 'Everyone’s' },
] as const;

/** For operators, who look after the imports of all. */
function Whose({ of, go }: Pick<ImportsPageProps, 'of' | 'go'>) {
  return (
    <nav class="filters" aria-label="Whose imports">
      {WHOSE.map((each) => (
        <a
          key={each.title}
          href={hrefOf({ of: each.of })}
          aria-current={each.of === of ? 'true' : undefined}
          onClick={followed(() => go({ of: each.of }))}
        >
          {each.title}
        </a>
      ))}
    </nav>
  );
}

interface ImportCardProps {
  view: ImportInList;
  transfer: Transfer | undefined;
  now: number;
  go: Go;
}

function ImportCard({ view, transfer, now, go }: ImportCardProps) {
  const { importId, name, rows, createdAt, usage } = view;
  return (
    <li>
      <a href={hrefOf({ importId })} onClick={followed(() => go({ importId }))}>
        <span class="name" dir="auto">
          {name}
        </span>
        <StateChip view={view} />
        <span class="facts">{factsOf(view, transfer, now)}</span>
        <span class="cost">{usage.costUsd > 0 ? money(usage.costUsd) : ''}</span>
        <time dateTime={new Date(createdAt).toISOString()} title={moment(createdAt)}>
          {ago(createdAt, now)}
        </time>
        {isBegun(view) && !isOver(view.state) && (
          <ProgressBar rows={rows} label={`Progress of ${name}`} />
        )}
      </a>
    </li>
  );
}

function factsOf(view: ImportInList, transfer: Transfer | undefined, now: number): string {
  const { state, rows } = view;
  if (state === 'awaiting-upload' && transfer?.state === 'sending') {
    return `Sending, ${percent(transfer.sent, transfer.bytes)}`;
  }
  if (rows.total === 0) return '';
  if (!isBegun(view)) return rowsInWords(rows.total);
  const ended = written(rows);
  return [
    isOver(state) && ended === rows.total
      ? rowsInWords(rows.total)
      : `${count(ended)} of ${rowsInWords(rows.total)}`,
    rows.failed > 0 ? `${count(rows.failed)} failed` : '',
    state === 'running' ? timeInWords(view, now) : '',
  ]
    .filter(Boolean)
    .join(' · ');
}
