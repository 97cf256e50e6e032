import type { Wishes } from '../api.ts';
import type { Column, Settings } from '../import-view.ts';

/** What a person is about to ask for; nothing of it is sent before rows are. */
export interface Draft {
  readonly instructions: string;
  readonly columns: ReadonlySet<string>;
  /** As it stands in the field. */
  readonly maxCost: string;
}

/** The API's bound, in characters. */
export const LONGEST_INSTRUCTIONS = 4_000;

export function draftOf(settings: Settings, columns: readonly Column[]): Draft {
  const { instructions, maxCostUsd } = settings;
  const chosen = settings.columns.length > 0 ? settings.columns : columns.map(({ name }) => name);
  return {
    instructions,
    columns: new Set(chosen),
    maxCost: maxCostUsd === undefined ? '' : String(maxCostUsd),
  };
}

/** What differs from what the API knows already. */
export function wishesOf(
  { instructions, columns, maxCost }: Draft,
  settings: Settings,
  all: readonly Column[],
): Wishes {
  const wanted = instructions.trim();
  const before = draftOf(settings, all);
  const sameColumns =
    before.columns.size === columns.size && [...columns].every((name) => before.columns.has(name));
  const cost = costOf(maxCost);
  return {
    ...(wanted === settings.instructions ? {} : { instructions: wanted }),
    // In the file's order. None named would stand for all.
    ...(sameColumns
      ? {}
      : { columns: all.map(({ name }) => name).filter((name) => columns.has(name)) }),
    ...(cost === 'wrong' || cost === settings.maxCostUsd ? {} : { maxCostUsd: cost ?? null }),
  };
}

/** Why rows cannot be sent with it, in a sentence; undefined if they can. */
export function objectionTo({ instructions, columns, maxCost }: Draft): string | undefined {
  if (columns.size === 0) return 'Choose at least one column.';
  const wanted = instructions.trim();
  if (wanted === '') return 'The model needs instructions.';
  if (wanted.length > LONGEST_INSTRUCTIONS) {
    return `The instructions have ${wanted.length.toLocaleString()} characters; ${LONGEST_INSTRUCTIONS.toLocaleString()} is the most.`;
  }
  if (costOf(maxCost) === 'wrong') return 'The highest cost is an amount in US dollars, such as 5.';
  return undefined;
}

/** A comma is some people's decimal point. */
function costOf(field: string): number | undefined | 'wrong' {
  const text = field
    .trim()
    .replace(/^\$\s*/, '')
    .replace(',', '.');
  if (text === '') return undefined;
  const cost = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  return cost > 0 ? cost : 'wrong';
}
