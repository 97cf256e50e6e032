import { ApiError } from '../../shell/api-error.ts';
import { createPolling } from '../../shell/polling.ts';
import type { Presence } from '../../shell/presence.ts';
import { createStore, type Store } from '../../shell/store.ts';
import type { ImportsApi } from '../api.ts';
import type { ImportInList } from '../import-view.ts';
import { nextListPoll } from '../next-poll.ts';

export interface ImportListState {
  /** From the newest to the oldest; undefined while none was read. */
  readonly imports: readonly ImportInList[] | undefined;
  /** Whether those of everyone may be seen. */
  readonly operator: boolean;
  readonly more: boolean;
  readonly loadingMore: boolean;
  readonly error: ApiError | undefined;
}

export interface ImportList extends Pick<Store<ImportListState>, 'state' | 'subscribe'> {
  start(): () => void;
  look(): void;
  loadMore(): Promise<void>;
}

/** Imports, one's own or all, page by page; the newest are kept up to date while some of them move. */
export function createImportList(
  api: Pick<ImportsApi, 'imports'>,
  page: Presence,
  of?: 'everyone',
): ImportList {
  const store = createStore<ImportListState>({
    imports: undefined,
    operator: false,
    more: false,
    loadingMore: false,
    error: undefined,
  });
  let cursor: string | undefined;
  let unchanged = 0;
  let failures = 0;

  const look = async () => {
    try {
      const newest = await api.imports({ of });
      failures = 0;
      const before = store.state.imports;
      const known = new Set(newest.items.map(({ importId }) => importId));
      const older = (before ?? []).filter(({ importId }) => !known.has(importId));
      if (before === undefined) cursor = newest.cursor;
      const imports = [...newest.items, ...older];
      const same = JSON.stringify(imports) === JSON.stringify(before);
      unchanged = same ? unchanged + 1 : 0;
      if (!same || store.state.error !== undefined) {
        store.set({
          imports,
          operator: newest.operator,
          more: cursor !== undefined,
          error: undefined,
        });
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failures += 1;
      store.set({ error });
    }
  };
  const wait = () =>
    nextListPoll(
      (store.state.imports ?? []).map(({ state }) => state),
      { unchanged, failures, hidden: page.hidden() },
    );
  const polling = createPolling(look, wait, page);

  return {
    subscribe: store.subscribe,
    get state() {
      return store.state;
    },
    start: polling.start,
    look: polling.now,
    async loadMore() {
      if (store.state.loadingMore || cursor === undefined) return;
      store.set({ loadingMore: true });
      try {
        const { items, cursor: next } = await api.imports({ cursor, of });
        cursor = next;
        const here = store.state.imports ?? [];
        const known = new Set(here.map(({ importId }) => importId));
        const imports = [...here, ...items.filter(({ importId }) => !known.has(importId))];
        store.set({ imports, more: next !== undefined, loadingMore: false });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        store.set({ loadingMore: false, error });
      }
    },
  };
}
