import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Reading } from '../api.ts';
import type { Report } from '../import-view.ts';
import { DELIMITERS, ENCODINGS } from '../in-words.ts';
import { ACCEPTED } from '../picked-csv.ts';

export interface ReadAgainProps {
  report: Report | undefined;
  /** How it was read as far as somebody said so. */
  before: Reading;
  /** Whether the page still has the file; if not, it has to be chosen again. */
  hasFile: boolean;
  busy: boolean;
  /** The file, if it was chosen anew. */
  onRead: (reading: Reading, file?: File) => void;
  /** Whether something else is chosen than how it was read. */
  onChanged?: (changed: boolean) => void;
}

/** How a file is read, where the guess was wrong: the same file, once more. */
export function ReadAgain({ report, before, hasFile, busy, onRead, onChanged }: ReadAgainProps) {
  const now = {
    encoding: before.encoding ?? report?.encoding ?? '',
    delimiter: before.delimiter ?? report?.delimiter ?? '',
    idColumn: before.idColumn ?? '',
  };
  const [wanted, setWanted] = useState(now);
  const input = useRef<HTMLInputElement>(null);
  const changed =
    wanted.encoding !== now.encoding ||
    wanted.delimiter !== now.delimiter ||
    wanted.idColumn !== now.idColumn;
  useEffect(() => onChanged?.(changed), [changed, onChanged]);
  const reading: Reading = Object.fromEntries(
    Object.entries(wanted).filter(([, value]) => value !== ''),
  );
  const found = report === undefined ? [['', 'Find out']] : [];
  return (
    <fieldset class="reading">
      <legend>How the file is read</legend>
      <Choice
        label="Encoding"
        value={wanted.encoding}
        options={[...found, ...ENCODINGS]}
        onChange={(encoding) => setWanted({ ...wanted, encoding })}
      />
      <Choice
        label="Separated by"
        value={wanted.delimiter}
        options={[...found, ...DELIMITERS]}
        onChange={(delimiter) => setWanted({ ...wanted, delimiter })}
      />
      {report !== undefined && (
        <Choice
          label="Rows are known by"
          value={wanted.idColumn}
          options={[['', 'their number'], ...report.columns.map(({ name }) => [name, name])]}
          onChange={(idColumn) => setWanted({ ...wanted, idColumn })}
        />
      )}
      {(changed || report === undefined) && (
        <div class="again">
          <button
            type="button"
            disabled={busy}
            onClick={() => (hasFile ? onRead(reading) : input.current?.click())}
          >
            {hasFile ? 'Read the file again' : 'Choose the file again'}
          </button>
          {!hasFile && (
            <input
              ref={input}
              type="file"
              hidden
              accept={ACCEPTED}
              onChange={({ currentTarget }) => {
                const [file] = currentTarget.files ?? [];
                currentTarget.value = '';
                if (file !== undefined) onRead(reading, file);
              }}
            />
          )}
          {changed && (
            <button type="button" class="link" onClick={() => setWanted(now)}>
              Leave it
            </button>
          )}
        </div>
      )}
    </fieldset>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly string[])[];
  onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options.map(([each = '', title]) => (
          <option key={each} value={each}>
            {title}
          </option>
        ))}
      </select>
    </div>
  );
}
