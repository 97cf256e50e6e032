import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readFleet } from '../../../../web/fleet/fleet-view.ts';
import { watchFleet } from '../../../../web/fleet/watch-fleet.ts';
import { ApiError } from '../../../../web/shell/api-error.ts';
import { told } from './told.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const IDLE = { code: 'idle', words: 'Nothing.', help: [] };

function stage(changes = {}) {
  let broken: ApiError | undefined;
  let hidden = false;
  let asked = 0;
  const listeners = new Set<() => void>();
  const watch = watchFleet(
    async () => {
      asked += 1;
      if (broken !== undefined) throw broken;
      return readFleet(told(changes));
    },
    {
      hidden: () => hidden,
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  );
  return {
    watch,
    asked: () => asked,
    break: (error: ApiError | undefined) => {
      broken = error;
    },
    hide: (now: boolean) => {
      hidden = now;
      for (const listener of listeners) listener();
    },
  };
}

test('a fleet that works is looked at every five seconds, an idle one every fifteen', async () => {
  const busy = stage();
  const idle = stage({ diagnosis: IDLE });
  const stops = [busy.watch.start(), idle.watch.start()];
  await vi.advanceTimersByTimeAsync(60_500);
  expect([busy.asked(), idle.asked()]).toEqual([13, 5]);
  for (const stop of stops) stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([busy.asked(), idle.asked()]).toEqual([13, 5]);
});

test('it rests while nobody sees the page, and looks at once when somebody does', async () => {
  const { watch, asked, hide } = stage();
  const stop = watch.start();
  await vi.advanceTimersByTimeAsync(100);
  hide(true);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(asked()).toBe(1);
  hide(false);
  await vi.advanceTimersByTimeAsync(100);
  expect(asked()).toBe(2);
  stop();
});

test('without an answer it keeps what it had, asks more seldom, and is well again', async () => {
  const { watch, asked, break: breaks } = stage();
  const stop = watch.start();
  await vi.advanceTimersByTimeAsync(100);
  breaks(new ApiError(0, 'no-answer', 'Glimpse does not answer.'));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(watch.state).toMatchObject({ error: { code: 'no-answer' }, view: expect.anything() });
  const before = asked();
  await vi.advanceTimersByTimeAsync(120_000);
  // After 2, 4, 8, 16 and 30 seconds, and then every 30.
  expect(asked() - before).toBe(7);
  breaks(undefined);
  await vi.advanceTimersByTimeAsync(31_000);
  expect(watch.state.error).toBeUndefined();
  stop();
});
