import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { watchDisk } from '../../../local/disk.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const FULL = expect.stringMatching(/^The disk of \/state is full: .*Make room .*--state .*--reset/);

function watched(left = 1e9) {
  const told: string[] = [];
  const space = { left };
  const disk = watchDisk(
    '/state',
    (line) => told.push(line),
    async () => space.left,
  );
  onTestFinished(disk.stop);
  return { disk, told, space };
}

function failing(code: string): () => void {
  return () => {
    throw Object.assign(new Error(`${code}: it was not written`), { code });
  };
}

test('a full disk is told of once, whoever meets it, and again when there was room in between', async () => {
  const { disk, told, space } = watched();
  await vi.advanceTimersByTimeAsync(5000);
  expect(told).toEqual([]);
  disk.attempt(failing('ENOSPC'));
  space.left = 4096;
  await vi.advanceTimersByTimeAsync(5000);
  disk.attempt(failing('ENOSPC'));
  expect(told).toEqual([FULL]);
  space.left = 1e9;
  await vi.advanceTimersByTimeAsync(5000);
  space.left = 0;
  await vi.advanceTimersByTimeAsync(5000);
  expect(told).toEqual([FULL, FULL]);
});

test('one on which nothing may be written is told of, too', () => {
  const { disk, told } = watched();
  disk.attempt(() => {});
  for (const code of ['EROFS', 'EROFS', 'EDQUOT']) disk.attempt(failing(code));
  expect(told).toEqual([
    expect.stringMatching(/^Nothing can be written to \/state \(EROFS\): /),
    expect.stringMatching(/^Nothing can be written to \/state \(EDQUOT\): /),
  ]);
});
