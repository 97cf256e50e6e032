import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { bytesInWords, timeLeftInWords } from '../../shell/amounts.ts';
import { useLeaveWarning } from '../../shell/use-leave-warning.ts';
import { Icon } from './icon.tsx';
import { pictures } from './pictures-in-words.ts';
import type { UploadItem, Uploads, UploadsSnapshot } from './upload-queue.ts';

/** Thousands of rows would be slow, and nobody reads them. */
const MOST_ROWS = 50;
const HIDE_AFTER_MS = 6_000;

interface UploadsProps {
  readonly uploads: Uploads<File>;
}

/** What is being uploaded, in the corner of the page; nothing while there is nothing to tell. */
export function UploadsPanel({ uploads }: UploadsProps) {
  const snapshot = useUploads(uploads);
  const { items, running } = snapshot;
  useLeaveWarning(running);
  // A live region has to be there before there is something to say.
  return (
    <>
      <p class="uploads-news" role="status">
        {newsOf(snapshot)}
      </p>
      {items.length > 0 && <Card uploads={uploads} snapshot={snapshot} />}
    </>
  );
}

function Card({ uploads, snapshot }: UploadsProps & { readonly snapshot: UploadsSnapshot }) {
  const [open, setOpen] = useState(true);
  const body = useId();
  const card = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const { items, totals, running, leftOut } = snapshot;
  useKeptFocus(card, heading);
  useAutoHide(card, !running && totals.failed === 0, uploads);

  const moving = items.filter(({ state }) => state === 'signing' || state === 'sending');
  const failed = items.filter(({ state }) => state === 'failed');
  const shown = failed.slice(0, MOST_ROWS - moving.length);
  const unshown = failed.length - shown.length;
  return (
    <section ref={card} class="uploads" aria-label="Uploads">
      <header>
        <Icon name={running ? 'up' : totals.failed > 0 ? 'warning' : 'check'} />
        <h2 ref={heading} tabIndex={-1}>
          {running || totals.failed > 0 ? (
            <button
              type="button"
              aria-expanded={open}
              aria-controls={body}
              onClick={() => setOpen(!open)}
            >
              {titleOf(snapshot)}
              <Icon name="chevron" />
            </button>
          ) : (
            titleOf(snapshot)
          )}
          <small>{detailOf(snapshot)}</small>
        </h2>
        {running ? (
          <button type="button" class="quiet" onClick={uploads.cancelAll}>
            Cancel all
          </button>
        ) : (
          <button type="button" class="icon" aria-label="Close uploads" onClick={uploads.clear}>
            <Icon name="cross" />
          </button>
        )}
      </header>
      {running && <progress aria-label="All uploads" max={totals.bytes} value={totals.sent} />}
      <div id={body} class="uploads-body" hidden={!open}>
        {leftOut && (
          <p class="note">
            Not everything could be taken: a drop may have 5,000 files, in folders up to eight deep.
          </p>
        )}
        <ForAll uploads={uploads} failed={failed} />
        {shown.length > 0 && (
          <ul aria-label="Could not be added">
            {shown.map((item) => (
              <FailedRow key={item.id} uploads={uploads} item={item} />
            ))}
          </ul>
        )}
        {unshown > 0 && <p class="note">and {unshown.toLocaleString('en')} more like these</p>}
        {moving.length > 0 && (
          <ul aria-label="Being added">
            {moving.map((item) => (
              <MovingRow key={item.id} uploads={uploads} item={item} />
            ))}
          </ul>
        )}
        {totals.waiting > 0 && (
          <p class="note">
            {moving.length > 0 && 'and '}
            {totals.waiting.toLocaleString('en')} {moving.length > 0 && 'more '}waiting
          </p>
        )}
      </div>
    </section>
  );
}

interface RowProps extends UploadsProps {
  readonly item: UploadItem;
}

function MovingRow({ uploads, item: { id, name, state, sent, bytes } }: RowProps) {
  const progress =
    state === 'signing'
      ? 'Starting'
      : sent === bytes
        ? 'Finishing'
        : `${bytesInWords(sent)} of ${bytesInWords(bytes)}`;
  return (
    <li>
      <Name name={name} />
      <small>{progress}</small>
      <button
        type="button"
        class="icon"
        aria-label={`Cancel upload of ${name}`}
        onClick={() => uploads.cancel(id)}
      >
        <Icon name="cross" />
      </button>
      <progress aria-label={name} max={bytes} value={sent} />
    </li>
  );
}

function FailedRow({ uploads, item: { id, name, error } }: RowProps) {
  const skip = {
    type: 'button',
    'aria-label': `Skip ${name}`,
    onClick: () => uploads.dismiss(id),
  } as const;
  return (
    <li class="failed">
      <Name name={name} />
      <p>
        <strong>{error?.title}.</strong> {error?.advice}
      </p>
      {error?.conflict ? (
        <div class="actions">
          <button
            type="button"
            aria-label={`Keep both pictures called ${name}`}
            onClick={() => uploads.keepBoth(id)}
          >
            Keep both
          </button>
          <button {...skip}>Skip</button>
        </div>
      ) : (
        <>
          {error?.retryable && (
            <div class="actions">
              <button
                type="button"
                aria-label={`Retry upload of ${name}`}
                onClick={() => uploads.retry(id)}
              >
                Retry
              </button>
            </div>
          )}
          <button {...skip} class="icon">
            <Icon name="cross" />
          </button>
        </>
      )}
    </li>
  );
}

/** A folder that is dropped twice has a conflict a file. */
function ForAll({ uploads, failed }: UploadsProps & { readonly failed: readonly UploadItem[] }) {
  const conflicts = failed.filter(({ error }) => error?.conflict);
  const retryable = failed.filter(({ error }) => error?.retryable);
  if (failed.length < 2) return null;
  const forEach = (items: readonly UploadItem[], act: (id: number) => void) => () => {
    for (const { id } of items) act(id);
  };
  return (
    <div class="actions for-all">
      {conflicts.length > 1 && (
        <button type="button" onClick={forEach(conflicts, uploads.keepBoth)}>
          Keep both for all {conflicts.length.toLocaleString('en')}
        </button>
      )}
      {retryable.length > 1 && (
        <button type="button" onClick={forEach(retryable, uploads.retry)}>
          Retry all {retryable.length.toLocaleString('en')}
        </button>
      )}
      <button type="button" class="quiet" onClick={forEach(failed, uploads.dismiss)}>
        Skip all
      </button>
    </div>
  );
}

function Name({ name }: { readonly name: string }) {
  return (
    <span class="name" title={name} dir="auto">
      {name}
    </span>
  );
}

// In words.

function titleOf({ running, totals: { files, done, failed, cancelled } }: UploadsSnapshot): string {
  if (running) {
    const current = Math.min(done + failed + 1, files);
    return files === 1
      ? 'Adding 1 picture'
      : `Adding ${current.toLocaleString('en')} of ${pictures(files)}`;
  }
  if (failed > 0) return `${failed.toLocaleString('en')} could not be added`;
  if (done > 0 || cancelled === 0) return `${pictures(done)} added`;
  return `${pictures(cancelled)} cancelled`;
}

function detailOf({ running, offline, totals }: UploadsSnapshot): string {
  const { bytes, sent, done, failed, cancelled, secondsLeft } = totals;
  if (running && offline) return 'You are offline. It goes on when you are back.';
  if (running) {
    return secondsLeft !== undefined && secondsLeft > 5
      ? timeLeftInWords(secondsLeft)
      : `${bytesInWords(sent)} of ${bytesInWords(bytes)}`;
  }
  return [
    failed > 0 && done > 0 ? `${pictures(done)} added` : '',
    cancelled > 0 && failed + done > 0 ? `${cancelled.toLocaleString('en')} cancelled` : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** For screen readers: start, failures, end, and not each percent. */
function newsOf(snapshot: UploadsSnapshot): string {
  const { items, running, offline, totals } = snapshot;
  if (items.length === 0) return '';
  if (!running) return [titleOf(snapshot), detailOf(snapshot)].filter(Boolean).join('. ');
  if (offline) return detailOf(snapshot);
  return totals.failed > 0
    ? `${totals.failed.toLocaleString('en')} of ${pictures(totals.files)} could not be added`
    : `Adding ${pictures(totals.files)}`;
}

// How it behaves.

function useUploads(uploads: Uploads<File>): UploadsSnapshot {
  const [snapshot, setSnapshot] = useState(uploads.snapshot());
  useEffect(() => {
    const read = () => setSnapshot(uploads.snapshot());
    read();
    return uploads.subscribe(read);
  }, [uploads]);
  return snapshot;
}

/** When the row with the focus goes away, who uses a keyboard is still in the card. */
function useKeptFocus(
  card: { readonly current: HTMLElement | null },
  heading: { readonly current: HTMLElement | null },
): void {
  const focused = useRef<Element | null>(null);
  useEffect(() => {
    const note = () => {
      const { activeElement } = document;
      // What is removed loses the focus to the body, sometimes with an event and sometimes without.
      if (activeElement !== document.body) {
        focused.current = card.current?.contains(activeElement) ? activeElement : null;
      }
    };
    document.addEventListener('focusin', note);
    return () => document.removeEventListener('focusin', note);
  }, [card]);
  useLayoutEffect(() => {
    if (focused.current === null || focused.current.isConnected) return;
    focused.current = null;
    if (document.activeElement === document.body) heading.current?.focus();
  });
}

/** Not under someone's pointer or focus. */
function useAutoHide(
  card: { readonly current: HTMLElement | null },
  finished: boolean,
  uploads: Uploads<File>,
): void {
  useEffect(() => {
    if (!finished) return;
    const timer = setInterval(() => {
      if (!card.current?.matches(':hover, :focus-within')) uploads.clear();
    }, HIDE_AFTER_MS);
    return () => clearInterval(timer);
  }, [card, finished, uploads]);
}
