import type { ImportInList } from './import-view.ts';
import { stateInWords, toneOf } from './in-words.ts';

/** The state of an import, in words and a colour. */
export function StateChip({ view }: { view: ImportInList }) {
  return <span class={`chip ${toneOf(view)}`}>{stateInWords(view)}</span>;
}
