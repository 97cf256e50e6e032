import { useState } from 'preact/hooks';
import type { Report } from '../import-view.ts';
import { count, delimiterInWords, encodingInWords, rowsInWords, sentence } from '../in-words.ts';

/** Warnings that are shown at first. */
const FEW = 4;

export interface UnderstoodProps {
  report: Report;
  /** The file was refused: this is what was read of it before. */
  refused?: boolean;
}

/** What Glimpse understood of a file, and what it stumbled over. */
export function Understood({ report, refused = false }: UnderstoodProps) {
  const { encoding, delimiter, rows, columns, blankLines } = report;
  const facts: readonly (readonly [string, string])[] = [
    [refused ? 'Rows before that' : 'Rows', count(rows)],
    ['Columns', count(columns.length)],
    ['Encoding', encodingInWords(encoding)],
    ['Separated by', delimiterInWords(delimiter)],
    ['Blank lines', blankLines === 0 ? 'none' : `${count(blankLines)}, left out`],
  ];
  return (
    <>
      <dl class="understood">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {report.warningsTotal > 0 && <Warnings report={report} refused={refused} />}
    </>
  );
}

function Warnings({
  report: { warnings, warningsTotal, rows },
  refused,
}: Required<UnderstoodProps>) {
  const [all, setAll] = useState(false);
  const shown = all ? warnings : warnings.slice(0, FEW);
  const untold = warningsTotal - warnings.length;
  return (
    <section class="notice warning" aria-label="What to look at">
      <h2>
        {warningsTotal === 1 ? 'One thing to look at' : `${count(warningsTotal)} things to look at`}
      </h2>
      <p>
        {refused
          ? 'These alone would stop nothing.'
          : `They stop nothing: all ${rowsInWords(rows)} can be summarised.`}
      </p>
      <ul class="problems">
        {shown.map(({ line, message }) => (
          <li key={`${line} ${message}`}>{sentence(message)}</li>
        ))}
      </ul>
      {warnings.length > FEW && (
        <button type="button" class="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show ${count(warnings.length - FEW)} more`}
        </button>
      )}
      {all && untold > 0 && <p class="quiet">and {count(untold)} more like these</p>}
    </section>
  );
}
