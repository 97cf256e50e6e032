import { ApiError } from '../shell/api-error.ts';
import { createPolling } from '../shell/polling.ts';
import type { Presence } from '../shell/presence.ts';
import { createStore, type Store } from '../shell/store.ts';
import type { Action, ImportsApi, Wishes } from './api.ts';
import type { ImportView } from './import-view.ts';
import { nextPoll } from './next-poll.ts';

export interface WatchState {
  readonly view: ImportView | undefined;
  /** Of the last look; what is shown may be old then. */
  readonly error: ApiError | undefined;
  /** What was asked for and has not been answered yet. */
  readonly acting: Action | undefined;
  readonly refused: ApiError | undefined;
}

/** One import, kept up to date as long as somebody looks. */
export interface Watch extends Pick<Store<WatchState>, 'state' | 'subscribe'> {
  /** Answers how to stop. */
  start(): () => void;
  look(): void;
  /** Whether it was done; if it was not, the state says why. */
  act(action: Action, wishes?: Wishes): Promise<boolean>;
}

export function createWatch(
  api: Pick<ImportsApi, 'import' | 'act'>,
  importId: string,
  page: Presence,
): Watch {
  const store = createStore<WatchState>({
    view: undefined,
    error: undefined,
    acting: undefined,
    refused: undefined,
  });
  let told = '';
  let unchanged = 0;
  let failures = 0;
  /** Rises with each action: an answer that was on its way then is older than what came of it. */
  let turn = 0;

  const take = (view: ImportView) => {
    const now = JSON.stringify(view);
    unchanged = now === told ? unchanged + 1 : 0;
    if (now !== told) store.set({ view });
    told = now;
  };

  const look = async () => {
    const mine = turn;
    try {
      const view = await api.import(importId);
      failures = 0;
      if (mine !== turn) return;
      take(view);
      if (store.state.error !== undefined) store.set({ error: undefined });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failures += 1;
      store.set({ error });
    }
  };
  const wait = () =>
    store.state.error?.status === 404
      ? undefined
      : nextPoll({
          state: store.state.view?.state,
          unchanged,
          failures,
          hidden: page.hidden(),
        });
  const polling = createPolling(look, wait, page);

  return {
    subscribe: store.subscribe,
    get state() {
      return store.state;
    },
    start: polling.start,
    look: polling.now,
    async act(action, wishes) {
      store.set({ acting: action, refused: undefined });
      try {
        const view = await api.act(importId, action, wishes);
        turn += 1;
        take(view);
        unchanged = 0;
        store.set({ acting: undefined });
        return true;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        store.set({ acting: undefined, refused: error });
        return false;
      } finally {
        // Somebody else may have been faster; and what rests must begin to move.
        polling.now();
      }
    },
  };
}
