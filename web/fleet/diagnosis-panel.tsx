import type { FleetView, LineView } from './fleet-view.ts';
import { DIAGNOSES, LINE_TITLES, percent, secondsLeft } from './in-words.ts';

/** In large words: what limits the fleet and what would help; then how each account is. */
export function DiagnosisPanel({ view }: { view: FleetView }) {
  const { code, words, help } = view.diagnosis;
  const { title, tone } = DIAGNOSES[code];
  const lines = view.lines.filter(
    (line) => view.lines.length > 1 || statesOf(line, Date.now()).length > 0,
  );
  return (
    <section class={`diagnosis ${tone}`} aria-labelledby="diagnosis">
      <h2 id="diagnosis">{title}</h2>
      {/* Told again when it becomes another, and not with each figure. */}
      <p class="for-readers" role="status">
        {title}
      </p>
      <p class="words">{words}</p>
      {help.length > 0 && (
        <ul>
          {help.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      {lines.map((line) => (
        <LineState key={line.line} line={line} alone={view.lines.length === 1} />
      ))}
    </section>
  );
}

function LineState({ line, alone }: { line: LineView; alone: boolean }) {
  const { title, tone } = DIAGNOSES[line.diagnosis.code];
  const states = statesOf(line, Date.now());
  return (
    <p class="line-state">
      {LINE_TITLES[line.line] ?? line.line}
      {!alone && <span class={`chip ${tone}`}>{title}</span>}
      {states.length > 0 && <span>{states.join(' ')}</span>}
    </p>
  );
}

function statesOf({ quietUntil = 0, yieldUntil = 0, cut }: LineView, now: number): string[] {
  return [
    ...(quietUntil > now ? [`Nobody calls for another ${secondsLeft(quietUntil, now)}.`] : []),
    ...(yieldUntil > now ? [`Bulk gives way for another ${secondsLeft(yieldUntil, now)}.`] : []),
    ...(cut === undefined || now - cut.at > RECENT_MS
      ? []
      : [`It was cut to ${percent(cut.to)} after a refusal, and grows back.`]),
  ];
}

const RECENT_MS = 180_000;
