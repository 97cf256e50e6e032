import { expect, test } from 'vitest';
import { exportTrouble, prepareExport } from '../../../../web/imports/export-file.ts';
import { ApiError } from '../../../../web/shell/api-error.ts';

test('an export is asked for until it is made', async () => {
  let asked = 0;
  const api = {
    exported: async () => {
      asked += 1;
      return asked < 3 ? { retryAfterMs: 1 } : { url: 'https://api.example/file' };
    },
  };
  const { signal } = new AbortController();
  await expect(prepareExport(api, 'id', { signal })).resolves.toBe('https://api.example/file');
  expect(asked).toBe(3);
});

test('who leaves asks no more', async () => {
  const abort = new AbortController();
  let asked = 0;
  const api = {
    exported: async () => {
      asked += 1;
      abort.abort();
      return { retryAfterMs: 1 };
    },
  };
  await expect(prepareExport(api, 'id', { signal: abort.signal })).rejects.toThrow();
  expect(asked).toBe(1);
});

test('a refusal is told in the API’s words, a failure in ours', () => {
  expect(exportTrouble(new ApiError(409, 'conflict', 'there are no rows'))).toBe(
    'there are no rows',
  );
  expect(exportTrouble(new ApiError(503, 'x', 'y'))).toMatch(/Try again/);
});
