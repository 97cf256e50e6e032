import { useRef } from 'preact/hooks';
import { Icon } from '../../shell/icon.tsx';
import type { Mode } from '../import-view.ts';
import { ACCEPTED } from '../picked-csv.ts';
import type { Intake } from '../use-intake.ts';

const MODES: readonly { mode: Mode; title: string; meaning: string }[] = [
  { mode: 'interactive', title: 'While I watch', meaning: 'at once, row by row' },
  { mode: 'bulk', title: 'In the background', meaning: 'gives way to those who watch' },
];

/** Where files come in. */
export function DropZone({ intake }: { intake: Intake }) {
  const input = useRef<HTMLInputElement>(null);
  const { starting, notTaken, mode, setMode } = intake;
  return (
    <section class="drop-zone" aria-label="New import">
      <Icon name="table" />
      <div class="invitation">
        <h2>Drop a CSV anywhere on this page</h2>
        <p>You see what was understood of it, and what it will cost, before anything is spent.</p>
      </div>
      <button
        type="button"
        class="main"
        disabled={starting !== undefined}
        onClick={() => input.current?.click()}
      >
        {starting === undefined ? 'Choose a file' : 'Starting…'}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={ACCEPTED}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          // Or choosing the same file again would be no change.
          currentTarget.value = '';
          if (files.length > 0) void intake.take(files);
        }}
      />
      <fieldset class="modes">
        <legend>Summarise</legend>
        {MODES.map(({ mode: each, title, meaning }) => (
          <label key={each}>
            <input
              type="radio"
              name="mode"
              checked={mode === each}
              onChange={() => setMode(each)}
            />
            <span>
              {title} <small>{meaning}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {notTaken.length > 0 && (
        <div class="not-taken" role="alert">
          {notTaken.map(({ name, reason }) => (
            <p key={name}>
              <strong dir="auto">{name}</strong> {reason}
            </p>
          ))}
        </div>
      )}
    </section>
  );
}
