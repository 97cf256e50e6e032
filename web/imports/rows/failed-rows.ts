import { ApiError } from '../../shell/api-error.ts';
import { createStore } from '../../shell/store.ts';
import type { ImportsApi } from '../api.ts';
import type { RowView } from '../import-view.ts';
import { type Ask, MOST_ROWS, type Span } from './plan-rows.ts';
import { isRetried, type Progress, type RowSource, type RowsState } from './row-source.ts';

/** Places below the rows that are here, so that one can scroll on: nobody knows which rows those are. */
const AHEAD = 200;

/**
 * The rows that failed. Where the next one is only the API knows, so they come one page after another
 * as one scrolls. Those that fail while one looks are added at the end; when the import is over, the
 * list is read anew if some came in between.
 */
export function createFailedRows(ask: (asked: Ask) => ReturnType<ImportsApi['rows']>): RowSource {
  const store = createStore<RowsState>({ version: 0, error: undefined });
  let rows: RowView[] = [];
  let span: Span = { from: 1, to: 0 };
  let progress: Progress = { total: 0, written: 0, failed: 0, over: false };
  /** Where to go on; undefined at the end, as far as was known with `failedThen` failures. */
  let after: number | undefined = 0;
  let failedThen = 0;
  let generation = 0;
  let busy = false;

  const anew = () => {
    generation += 1;
    rows = [];
    after = 0;
    failedThen = 0;
  };

  const look = async (): Promise<void> => {
    if (busy || progress.failed === 0) return;
    if (after === undefined) {
      if (rows.length >= progress.failed || failedThen === keyOf(progress)) return;
      // Some came in between, and none will any more.
      if (progress.over && rows.length > 0) anew();
      after = rows.at(-1)?.row ?? 0;
    }
    if (rows.length >= span.to) return;
    busy = true;
    const mine = generation;
    const from = after;
    const told = keyOf(progress);
    try {
      const answer = await ask({ after: from, limit: MOST_ROWS });
      if (mine === generation) {
        rows.push(...answer.rows.filter(({ row }) => row > from));
        after = answer.next !== undefined && answer.next > from ? answer.next : undefined;
        failedThen = told;
        store.set({ version: store.state.version + 1, error: undefined });
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      store.set({ error });
    } finally {
      busy = false;
    }
    if (store.state.error === undefined) void look();
  };

  return {
    subscribe: store.subscribe,
    get state() {
      return store.state;
    },
    get count() {
      return Math.max(rows.length, Math.min(progress.failed, rows.length + AHEAD));
    },
    at: (place) => rows[place - 1],
    numberAt: (place) => rows[place - 1]?.row,
    show(shown) {
      span = shown;
      void look();
    },
    told(news) {
      if (isRetried(progress, news)) anew();
      const changed = news.failed !== progress.failed;
      progress = news;
      if (changed) store.set({ version: store.state.version + 1 });
      void look();
    },
    again() {
      store.set({ error: undefined });
      void look();
    },
  };
}

/** A list that was read to its end is read on only when this has changed. */
function keyOf({ failed, over }: Progress): number {
  return over ? -failed - 1 : failed;
}
