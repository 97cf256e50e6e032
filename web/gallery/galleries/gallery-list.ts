import { ApiError } from '../../shell/api-error.ts';
import { createStore, type Store } from '../../shell/store.ts';
import type { Api } from '../api.ts';

export interface GalleryListState {
  readonly galleries: readonly string[];
  readonly loading: boolean;
  readonly more: boolean;
  readonly error: ApiError | undefined;
}

export interface GalleryList extends Pick<Store<GalleryListState>, 'state' | 'subscribe'> {
  loadMore(): Promise<void>;
}

/** The galleries that Glimpse knows, page by page. */
export function createGalleryList(api: Api): GalleryList {
  let cursor: string | undefined;
  const store = createStore<GalleryListState>({
    galleries: [],
    loading: false,
    more: true,
    error: undefined,
  });
  return {
    get state() {
      return store.state;
    },
    subscribe: store.subscribe,
    async loadMore() {
      if (store.state.loading || !store.state.more) return;
      store.set({ loading: true, error: undefined });
      try {
        const page = await api.galleries(cursor);
        cursor = page.cursor;
        const galleries = [...store.state.galleries, ...page.items];
        store.set({ galleries, loading: false, more: cursor !== undefined });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        store.set({ loading: false, error });
      }
    },
  };
}
