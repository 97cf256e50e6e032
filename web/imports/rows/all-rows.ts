import { ApiError } from '../../shell/api-error.ts';
import { createStore } from '../../shell/store.ts';
import type { ImportsApi } from '../api.ts';
import type { RowView } from '../import-view.ts';
import { type Ask, planRows, type Span } from './plan-rows.ts';
import { isRetried, type Progress, type RowSource, type RowsState } from './row-source.ts';

/** Rows that are kept: someone may scroll through a million. */
const MOST_KEPT = 20_000;

/** Milliseconds, at most, between two requests for rows that nobody has written yet. */
const LONGEST_PAUSE = 10_000;

interface Kept {
  readonly row: RowView;
  /** It will not change: it was summarised, or it failed and is not being tried again. */
  readonly final: boolean;
}

/**
 * All rows of an import, in their order. Only those on screen are asked for, one request at a time;
 * again only when the import has moved on meanwhile, and less and less often while that brings none.
 */
export function createAllRows(
  ask: (asked: Ask) => ReturnType<ImportsApi['rows']>,
  now: () => number = () => performance.now(),
): RowSource {
  const store = createStore<RowsState>({ version: 0, error: undefined });
  const kept = new Map<number, Kept>();
  let span: Span = { from: 1, to: 0 };
  let progress: Progress = { total: 0, written: 0, failed: 0, over: false };
  let retrying = false;
  let busy = false;
  /** The last rows asked for, how far the import was then, and how many in a row brought nothing. */
  let last = { after: 0, end: 0, progress: '', at: 0, fruitless: 0 };

  const isThere = (row: number) => kept.get(row)?.final === true;
  const keep = (rows: readonly RowView[]) => {
    for (const row of rows) {
      kept.delete(row.row);
      kept.set(row.row, { row, final: row.state === 'done' || !retrying });
    }
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_KEPT) break;
      if (oldest < span.from || oldest > span.to) kept.delete(oldest);
    }
  };

  const wasAsked = ({ after, limit }: Ask) => after >= last.after && after + limit <= last.end;
  const mayAsk = ({ after, limit }: Ask): boolean => {
    if (!wasAsked({ after, limit })) return true;
    if (last.progress === keyOf(progress)) return false;
    if (progress.over) return true;
    const pause = last.fruitless === 0 ? 0 : Math.min(LONGEST_PAUSE, 500 * 2 ** last.fruitless);
    return now() - last.at >= pause;
  };

  const look = async (): Promise<void> => {
    if (busy || progress.written === 0) return;
    const to = Math.min(span.to, progress.total);
    const planned = planRows({ from: span.from, to }, isThere);
    if (planned === undefined || !mayAsk(planned)) return;
    busy = true;
    const { after: begin, limit } = planned;
    const end = begin + limit;
    const told = keyOf(progress);
    const fruitless = wasAsked(planned) ? last.fruitless : 0;
    try {
      let fresh = 0;
      let next: number | undefined = begin;
      // A long way without rows is gone in steps.
      for (let after = begin; next !== undefined && after < end; after = next ?? end) {
        const answer = await ask({ after, limit: end - after });
        fresh += answer.rows.filter(({ row }) => row <= end && !isThere(row)).length;
        keep(answer.rows);
        next = answer.next !== undefined && answer.next > after ? answer.next : undefined;
      }
      last = {
        after: begin,
        end,
        progress: told,
        at: now(),
        fruitless: fresh > 0 ? 0 : fruitless + 1,
      };
      store.set({ version: store.state.version + 1, error: undefined });
    } catch (error) {
      last = { after: begin, end, progress: told, at: now(), fruitless: fruitless + 1 };
      if (!(error instanceof ApiError)) throw error;
      store.set({ error });
    } finally {
      busy = false;
    }
    // The window may have moved meanwhile, or the import.
    if (store.state.error === undefined) void look();
  };

  return {
    subscribe: store.subscribe,
    get state() {
      return store.state;
    },
    get count() {
      return progress.total;
    },
    at: (place) => kept.get(place)?.row,
    numberAt: (place) => place,
    show(shown) {
      span = shown;
      void look();
    },
    told(news) {
      if (isRetried(progress, news)) {
        retrying = true;
        for (const [number, { row, final }] of kept) {
          if (final && row.state === 'failed') kept.set(number, { row, final: false });
        }
      }
      if (news.over) retrying = false;
      const longer = news.total !== progress.total;
      progress = news;
      if (longer) store.set({ version: store.state.version + 1 });
      void look();
    },
    again() {
      last = { ...last, end: 0 };
      void look();
    },
  };
}

function keyOf({ written, failed, over }: Progress): string {
  return `${written} ${failed} ${over}`;
}
