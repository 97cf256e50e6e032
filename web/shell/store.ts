import { useLayoutEffect, useState } from 'preact/hooks';

/** A state that components watch. */
export interface Store<T> {
  readonly state: T;
  set(change: Partial<T>): void;
  /** Tells of changes, at most once a turn of the event loop; answers how to stop it. */
  subscribe(listener: () => void): () => void;
}

export function createStore<T extends object>(initial: T): Store<T> {
  const listeners = new Set<() => void>();
  let state = initial;
  let told = true;
  return {
    get state() {
      return state;
    },
    set(change) {
      state = { ...state, ...change };
      if (!told) return;
      told = false;
      queueMicrotask(() => {
        told = true;
        for (const listener of listeners) listener();
      });
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Renders the component again whenever the store's state changes. */
export function useStore<T>(store: Pick<Store<T>, 'state' | 'subscribe'>): T {
  const [, render] = useState({});
  const { state } = store;
  useLayoutEffect(() => {
    const again = () => render({});
    // It may have changed between the rendering and now.
    if (store.state !== state) again();
    return store.subscribe(again);
  }, [store]);
  return state;
}
