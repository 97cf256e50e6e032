import { type Bearer, createApiClient } from '../shell/api-client.ts';
import { ApiError } from '../shell/api-error.ts';
import { createPolling } from '../shell/polling.ts';
import type { Presence } from '../shell/presence.ts';
import { createStore, type Store } from '../shell/store.ts';
import { type DepthSample, remember } from './depth-history.ts';
import { type FleetView, readFleet } from './fleet-view.ts';

export interface FleetState {
  readonly view: FleetView | undefined;
  readonly depths: readonly DepthSample[];
  /** Of the last look; what is shown is old then. */
  readonly error: ApiError | undefined;
}

/** The fleet, kept up to date as long as somebody looks. */
export interface FleetWatch extends Pick<Store<FleetState>, 'state' | 'subscribe'> {
  /** Answers how to stop. */
  start(): () => void;
  look(): void;
}

/** What is measured changes every ten seconds, the queues' depth at any time. */
const BUSY_MS = 5_000;
const IDLE_MS = 15_000;
const MOST_AFTER_FAILURES = 30_000;

export function createFleetWatch(
  base: string,
  session: Bearer | undefined,
  page: Presence,
): FleetWatch {
  const { ask } = createApiClient(base, session);
  return watchFleet(() => ask('/fleet', readFleet), page);
}

export function watchFleet(ask: () => Promise<FleetView>, page: Presence): FleetWatch {
  const store = createStore<FleetState>({ view: undefined, depths: [], error: undefined });
  let failures = 0;
  const look = async () => {
    try {
      const view = await ask();
      const depths = remember(store.state.depths, view, Date.now());
      store.set({ view, depths, error: undefined });
      failures = 0;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failures += 1;
      store.set({ error });
    }
  };
  const wait = () => {
    if (page.hidden()) return undefined;
    if (failures > 0) return Math.min(MOST_AFTER_FAILURES, 1_000 * 2 ** Math.min(failures, 10));
    return store.state.view?.diagnosis.code === 'idle' ? IDLE_MS : BUSY_MS;
  };
  const polling = createPolling(look, wait, page);
  return {
    subscribe: store.subscribe,
    get state() {
      return store.state;
    },
    start: polling.start,
    look: polling.now,
  };
}
