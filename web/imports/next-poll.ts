import { type ImportState, isOver } from './import-view.ts';

export interface Rhythm {
  readonly state: ImportState | undefined;
  /** Answers in a row that brought nothing new. */
  readonly unchanged: number;
  /** Asked in a row without an answer. */
  readonly failures: number;
  readonly hidden: boolean;
}

/** Milliseconds, from the first poll after something happened to those when nothing ever does. */
const PACE: Readonly<Record<'quick' | 'slow', { first: number; most: number }>> = {
  quick: { first: 1_000, most: 10_000 },
  slow: { first: 2_000, most: 30_000 },
};
const GROWTH = 1.5;
/** A chunk of rows takes seconds: so many answers without news are no sign of rest. */
const PATIENCE = 3;
const MOST_AFTER_FAILURES = 30_000;

/**
 * Milliseconds until an import is looked at again; undefined, if it rests: it is over, nobody sees it,
 * or it never answered what it is.
 */
export function nextPoll({ state, unchanged, failures, hidden }: Rhythm): number | undefined {
  if (hidden) return undefined;
  if (failures > 0) return Math.min(MOST_AFTER_FAILURES, 1_000 * 2 ** Math.min(failures, 10));
  // What was under way when it was cancelled is written still, and counted.
  if (state === 'cancelled' && unchanged < PATIENCE) return 2_000;
  if (state === undefined || isOver(state)) return undefined;
  const { first, most } = PACE[state === 'running' || state === 'reading' ? 'quick' : 'slow'];
  return Math.min(most, first * GROWTH ** Math.max(0, Math.min(unchanged, 40) - PATIENCE));
}

/** Of a list of imports: as often as the liveliest of them is worth. */
export function nextListPoll(
  states: readonly ImportState[],
  rhythm: Omit<Rhythm, 'state'>,
): number | undefined {
  const liveliest =
    states.find((state) => state === 'running' || state === 'reading') ??
    states.find((state) => !isOver(state));
  const wait = nextPoll({ ...rhythm, state: liveliest });
  return wait === undefined ? undefined : Math.max(2_000, wait);
}
