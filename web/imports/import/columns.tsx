import type { Column } from '../import-view.ts';
import { count, percent } from '../in-words.ts';

/** Columns from which on the list scrolls by itself. */
const MANY = 12;

export interface ColumnsProps {
  columns: readonly Column[];
  /** Rows of the file. */
  rows: number;
  chosen: ReadonlySet<string>;
  disabled: boolean;
  onChange: (chosen: ReadonlySet<string>) => void;
}

/** Which columns the model sees, and what is in them. */
export function Columns({ columns, rows, chosen, disabled, onChange }: ColumnsProps) {
  const toggle = (name: string) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    onChange(next);
  };
  const all = columns.length === chosen.size;
  return (
    <fieldset class="columns" disabled={disabled}>
      <legend>Columns that the model sees</legend>
      <p class="choosing">
        <span>
          {count(chosen.size)} of {count(columns.length)} chosen
        </span>
        <button
          type="button"
          class="link"
          disabled={all}
          onClick={() => onChange(new Set(columns.map(({ name }) => name)))}
        >
          All
        </button>
        <button
          type="button"
          class="link"
          disabled={chosen.size === 0}
          onClick={() => onChange(new Set())}
        >
          None
        </button>
      </p>
      <ul class={columns.length > MANY ? 'many' : ''}>
        {columns.map((column) => (
          <li key={column.name} class={chosen.has(column.name) ? 'chosen' : ''}>
            <label>
              <input
                type="checkbox"
                checked={chosen.has(column.name)}
                onChange={() => toggle(column.name)}
              />
              <span class="name" dir="auto">
                {column.name}
              </span>
            </label>
            <span class="fill">
              <span class="meter" aria-hidden="true">
                <span style={{ width: `${rows === 0 ? 0 : (column.filled / rows) * 100}%` }} />
              </span>
              {column.filled === rows ? 'in all rows' : `in ${percent(column.filled, rows)}`}
            </span>
            <span class="length">
              {column.maxCharacters === 0
                ? 'empty'
                : `${count(column.meanCharacters)} characters, up to ${count(column.maxCharacters)}`}
            </span>
            <span class="samples" dir="auto">
              {column.samples.map((sample, index) => (
                <q key={index}>{sample}</q>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
