import { useRef } from 'preact/hooks';
import { adviceFor, helpsToReadAgain } from '../advice.ts';
import type { Reading } from '../api.ts';
import type { ImportView } from '../import-view.ts';
import { count, sentence } from '../in-words.ts';
import { ACCEPTED } from '../picked-csv.ts';
import { ReadAgain } from './read-again.tsx';
import { ReadSoFar } from './read-so-far.tsx';

export interface RefusedProps {
  view: ImportView;
  before: Reading;
  hasFile: boolean;
  busy: boolean;
  onRead: (reading: Reading, file?: File) => void;
}

/** A file that cannot be imported: why, where, and what somebody can do. */
export function Refused({ view, before, hasFile, busy, onRead }: RefusedProps) {
  const { failure, report } = view;
  const input = useRef<HTMLInputElement>(null);
  if (failure === undefined) return null;
  const advice = adviceFor(failure.code);
  const problems = failure.problems.filter(({ line }) => line !== undefined);
  const said = failure.problems.length > 0 ? failure.problems : [{ line: undefined, ...failure }];
  return (
    <div class="refused-file">
      <section class="notice bad" aria-label="Why the file was not imported">
        <h2>
          {problems.length > 1
            ? `This file has ${count(problems.length)} problems`
            : 'This file cannot be imported'}
        </h2>
        <ul class="problems">
          {said.map(({ line, message }) => (
            <li key={`${line} ${message}`}>{sentence(message)}</li>
          ))}
        </ul>
        {advice !== undefined && (
          <p>
            <strong>What to do:</strong> {advice}
          </p>
        )}
        <p class="quiet">Nothing was sent to the model, and nothing was spent.</p>
        <div class="actions">
          <button type="button" class="main" onClick={() => input.current?.click()}>
            Choose another file
          </button>
          <input
            ref={input}
            type="file"
            hidden
            accept={ACCEPTED}
            onChange={({ currentTarget }) => {
              const [file] = currentTarget.files ?? [];
              currentTarget.value = '';
              if (file !== undefined) onRead({}, file);
            }}
          />
        </div>
      </section>
      {report !== undefined && <ReadSoFar report={report} />}
      {helpsToReadAgain(failure.code) && (
        <ReadAgain report={report} before={before} hasFile={hasFile} busy={busy} onRead={onRead} />
      )}
    </div>
  );
}
