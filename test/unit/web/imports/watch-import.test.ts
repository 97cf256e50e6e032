import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type ImportView, readImport } from '../../../../web/imports/import-view.ts';
import { createWatch } from '../../../../web/imports/watch-import.ts';
import { ApiError } from '../../../../web/shell/api-error.ts';
import { told } from './told.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** An import that a test moves on, and a page that it hides and shows. */
function stage() {
  let changes: Record<string, unknown> = { state: 'running' };
  let broken: ApiError | undefined;
  let hidden = false;
  const listeners = new Set<() => void>();
  const asked: string[] = [];
  const answer = async (what: string): Promise<ImportView> => {
    asked.push(what);
    if (broken !== undefined) throw broken;
    return readImport(told(changes));
  };
  const watch = createWatch(
    { import: () => answer('look'), act: (_, action) => answer(action) },
    '01abc',
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
    asked,
    become: (given: Record<string, unknown>) => {
      changes = given;
    },
    break: (error: ApiError | undefined) => {
      broken = error;
    },
    hide: (now: boolean) => {
      hidden = now;
      for (const listener of listeners) listener();
    },
  };
}

const moving = (done: number) => ({ state: 'running', rows: { total: 812, done, failed: 0 } });

test('it looks each second while rows come, rests when it is over', async () => {
  const { watch, asked, become } = stage();
  const stop = watch.start();
  for (let second = 1; second <= 10; second += 1) {
    become(moving(second));
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(asked.length).toBeGreaterThanOrEqual(10);
  become({ state: 'completed', rows: { total: 812, done: 812, failed: 0 } });
  await vi.advanceTimersByTimeAsync(1000);
  const then = asked.length;
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(asked).toHaveLength(then);
  expect(watch.state.view?.state).toBe('completed');
  stop();
});

test('an hour without news is a few hundred looks, and not thousands', async () => {
  const { watch, asked } = stage();
  const stop = watch.start();
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(asked.length).toBeLessThan(380);
  stop();
  const then = asked.length;
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(asked).toHaveLength(then);
});

test('nobody sees it, nobody asks; who comes back sees it as it is', async () => {
  const { watch, asked, become, hide } = stage();
  watch.start();
  await vi.advanceTimersByTimeAsync(100);
  hide(true);
  const then = asked.length;
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(asked).toHaveLength(then);
  become(moving(500));
  hide(false);
  await vi.advanceTimersByTimeAsync(10);
  expect(asked).toHaveLength(then + 1);
  expect(watch.state.view?.rows.done).toBe(500);
});

test('what does not answer is asked ever less often, and what was known stays', async () => {
  const { watch, asked, break: fail } = stage();
  watch.start();
  await vi.advanceTimersByTimeAsync(10);
  fail(new ApiError(0, 'no-answer', 'Glimpse does not answer.'));
  await vi.advanceTimersByTimeAsync(600_000);
  expect(asked.length).toBeLessThan(30);
  expect(watch.state.view?.state).toBe('running');
  expect(watch.state.error?.status).toBe(0);
  fail(undefined);
  await vi.advanceTimersByTimeAsync(31_000);
  expect(watch.state.error).toBeUndefined();
});

test('what is not there is not asked for again', async () => {
  const { watch, asked, break: fail } = stage();
  fail(new ApiError(404, 'not-found', 'there is no such import'));
  watch.start();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(asked).toHaveLength(1);
});

test('an action shows at once, and what was refused says why', async () => {
  const { watch, asked, become, break: fail } = stage();
  watch.start();
  await vi.advanceTimersByTimeAsync(10);
  become({ state: 'paused', startedAt: '2026-01-02T03:04:05.000Z' });
  await expect(watch.act('pause')).resolves.toBe(true);
  expect(watch.state.view?.state).toBe('paused');
  fail(new ApiError(409, 'conflict', 'retry: no row of it has failed'));
  await expect(watch.act('retry')).resolves.toBe(false);
  expect(watch.state.refused?.message).toBe('retry: no row of it has failed');
  expect(asked.slice(1).filter((what) => what !== 'look')).toEqual(['pause', 'retry']);
});
