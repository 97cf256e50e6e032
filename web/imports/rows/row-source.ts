import type { ApiError } from '../../shell/api-error.ts';
import type { Store } from '../../shell/store.ts';
import { type ImportInList, isOver, type RowView, written } from '../import-view.ts';
import type { Span } from './plan-rows.ts';

export interface RowsState {
  /** Rises with whatever came. */
  readonly version: number;
  readonly error: ApiError | undefined;
}

/** Rows by their place in a list, as far as they are here. */
export interface RowSource extends Pick<Store<RowsState>, 'state' | 'subscribe'> {
  /** Of the list, those included that are not here. */
  readonly count: number;
  /** At a place from 1. */
  at(place: number): RowView | undefined;
  /** The number of the row at a place, if it is known. */
  numberAt(place: number): number | undefined;
  /** What is on screen or near it. */
  show(span: Span): void;
  /** How far the import is. */
  told(progress: Progress): void;
  /** After an error. */
  again(): void;
}

export interface Progress {
  readonly total: number;
  readonly written: number;
  readonly failed: number;
  /** Nothing more is written. */
  readonly over: boolean;
}

export function progressOf({ rows, state }: ImportInList): Progress {
  return {
    total: rows.total,
    written: written(rows),
    failed: rows.failed,
    over: isOver(state),
  };
}

/** Whether rows that had failed are tried again since. */
export function isRetried(before: Progress, now: Progress): boolean {
  return now.failed < before.failed || (before.over && !now.over);
}
