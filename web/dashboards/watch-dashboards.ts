import { createApiClient } from '../shell/api-client.ts';
import { ApiError } from '../shell/api-error.ts';
import { createPolling } from '../shell/polling.ts';
import type { Presence } from '../shell/presence.ts';
import { createStore, type Store } from '../shell/store.ts';
import { type DashboardView, readDashboards } from './dashboard-view.ts';

export interface DashboardsState {
  readonly dashboards: readonly DashboardView[] | undefined;
  readonly minutes: number;
  /** Of the last look; what is shown is old then. */
  readonly error: ApiError | undefined;
}

/** The dashboards, kept up to date as long as somebody looks. */
export interface DashboardsWatch extends Pick<Store<DashboardsState>, 'state' | 'subscribe'> {
  /** Answers how to stop. */
  start(): () => void;
  look(): void;
  /** Shows the last minutes, so many. */
  choose(minutes: number): void;
}

export const RANGES = [15, 60, 180] as const;

const EVERY_MS = 5_000;
const MOST_AFTER_FAILURES = 30_000;

export function createDashboardsWatch(path: string, page: Presence): DashboardsWatch {
  const { ask } = createApiClient(path);
  const store = createStore<DashboardsState>({
    dashboards: undefined,
    minutes: RANGES[0],
    error: undefined,
  });
  let failures = 0;
  const look = async () => {
    const { minutes } = store.state;
    try {
      const dashboards = await ask(`/drawn.json?minutes=${minutes}`, readDashboards);
      // Another range was chosen meanwhile: its answer comes.
      if (minutes === store.state.minutes) store.set({ dashboards, error: undefined });
      failures = 0;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failures += 1;
      store.set({ error });
    }
  };
  const wait = () => {
    if (page.hidden()) return undefined;
    return failures === 0 ? EVERY_MS : Math.min(MOST_AFTER_FAILURES, 1_000 * 2 ** failures);
  };
  const polling = createPolling(look, wait, page);
  return {
    subscribe: store.subscribe,
    get state() {
      return store.state;
    },
    start: polling.start,
    look: polling.now,
    choose(minutes) {
      store.set({ minutes });
      polling.now();
    },
  };
}
