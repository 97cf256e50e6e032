import { useId } from 'preact/hooks';
import type { ImportView } from '../import-view.ts';
import { count } from '../in-words.ts';
import { Columns } from './columns.tsx';
import { type Draft, LONGEST_INSTRUCTIONS } from './draft.ts';

export interface SettingsFormProps {
  view: ImportView;
  draft: Draft;
  disabled: boolean;
  onChange: (draft: Draft) => void;
}

/** What is asked of the model, for each row. */
export function SettingsForm({ view, draft, disabled, onChange }: SettingsFormProps) {
  const id = useId();
  const { report } = view;
  const left = LONGEST_INSTRUCTIONS - draft.instructions.trim().length;
  return (
    <>
      <div class="field wide">
        <label for={id}>Instructions for each row</label>
        <textarea
          id={id}
          rows={4}
          value={draft.instructions}
          disabled={disabled}
          onInput={({ currentTarget }) => onChange({ ...draft, instructions: currentTarget.value })}
        />
        {left < 500 && (
          <small class={left < 0 ? 'error' : 'quiet'}>
            {left < 0 ? `${count(-left)} characters too many` : `${count(left)} characters left`}
          </small>
        )}
      </div>
      {report !== undefined && (
        <Columns
          columns={report.columns}
          rows={report.rows}
          chosen={draft.columns}
          disabled={disabled}
          onChange={(columns) => onChange({ ...draft, columns })}
        />
      )}
      <CostField draft={draft} disabled={disabled} onChange={onChange} />
    </>
  );
}

/** Above which the import is not begun, and at which it pauses by itself. */
export function CostField({ draft, disabled, onChange }: Omit<SettingsFormProps, 'view'>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>May cost at most, in US dollars</label>
      <input
        id={id}
        class="cost"
        inputMode="decimal"
        autocomplete="off"
        placeholder="no bound"
        value={draft.maxCost}
        disabled={disabled}
        onInput={({ currentTarget }) => onChange({ ...draft, maxCost: currentTarget.value })}
      />
    </div>
  );
}
