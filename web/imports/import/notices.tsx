import type { ComponentChildren } from 'preact';
import { adviceFor } from '../advice.ts';
import type { Failure, ImportView, Stalled, Still } from '../import-view.ts';
import { ago, count, duration, sentence, stillInWords, waitsInWords } from '../in-words.ts';

/** Nothing comes just now, and nobody has looked into it yet. */
export function StillNotice({ still, now }: { still: Still; now: number }) {
  return (
    <section class="notice warning" aria-label="No row comes just now">
      <h2>No row comes just now</h2>
      <p>{stillInWords(still, now)}</p>
    </section>
  );
}

/** Why it does not move, and what somebody can do. */
export function StalledNotice({ stalled, now }: { stalled: Stalled; now: number }) {
  const { reason, resent, at } = stalled;
  return (
    <section class="notice warning" aria-label="It has stalled">
      <h2>It has stalled</h2>
      <p>{sentence(reason)}</p>
      <p>
        {resent > 0 &&
          `What was left is sent again${resent > 1 ? `, for the ${ordinal(resent)} time` : ''}${at === undefined ? '' : `, ${ago(at, now)}`}. `}
        Nothing is lost, and it goes on by itself. If it does not, ask whoever runs Glimpse whether
        the workers run.
      </p>
    </section>
  );
}

function ordinal(value: number): string {
  const endings: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' };
  const rule = new Intl.PluralRules('en', { type: 'ordinal' }).select(value);
  return `${count(value)}${endings[rule] ?? 'th'}`;
}

interface FailureNoticeProps {
  failure: Failure;
  title: string;
  /** What can be done about it on the spot. */
  children?: ComponentChildren;
}

export function FailureNotice({ failure, title, children }: FailureNoticeProps) {
  const { code, message } = failure;
  const advice = adviceFor(code);
  // Behind the colon the API says what a program could do.
  const spent = code === 'budget-spent' || code === 'over-budget';
  const said = spent ? (message.split(':', 1)[0] ?? message) : message;
  return (
    <section class="notice bad" aria-label={title}>
      <h2>{title}</h2>
      <p>{sentence(said)}</p>
      {advice !== undefined && (spent || !message.includes('resume')) && <p>{advice}</p>}
      {children}
    </section>
  );
}

/** What rows wait for before their call is made, for whoever wonders why it takes so long. */
export function Waits({ view }: { view: ImportView }) {
  const waits = waitsInWords(view);
  const [longest] = waits;
  if (longest === undefined) return null;
  return (
    <details class="waits">
      <summary>
        Rows wait {duration(waits.reduce((sum, { perRowMs }) => sum + perRowMs, 0))} each, mostly{' '}
        {longest.title.charAt(0).toLowerCase() + longest.title.slice(1)}
      </summary>
      <ul>
        {waits.map(({ kind, title, perRowMs, meaning }) => (
          <li key={kind}>
            <strong>{title}</strong>
            <span class="meter" aria-hidden="true">
              <span style={{ width: `${(perRowMs / longest.perRowMs) * 100}%` }} />
            </span>
            <span class="amount">{duration(perRowMs)} a row</span>
            <p>{meaning}</p>
          </li>
        ))}
      </ul>
    </details>
  );
}
