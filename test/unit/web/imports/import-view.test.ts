import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isBegun, readEstimate, readImport, readRow } from '../../../../web/imports/import-view.ts';
import { told } from './told.ts';

test('an import is read as the API tells of it', () => {
  const view = readImport(
    told({
      state: 'running',
      startedAt: '2026-01-02T03:04:05.000Z',
      etaSeconds: 12,
      still: {
        since: '2026-01-02T03:04:30.000Z',
        unheard: { chunks: 4, againBy: '2026-01-02T03:05:20.000Z' },
      },
      stalled: { chunk: 3, reason: 'a worker ended', resent: 1, at: '2026-01-02T03:05:00.000Z' },
      failure: { code: 'csv-quote', message: 'why', problems: [{ line: 7, message: 'line 7' }] },
    }),
  );
  expect(view.createdAt).toBe(Date.parse('2026-01-02T03:04:00.000Z'));
  expect(view.startedAt).toBe(Date.parse('2026-01-02T03:04:05.000Z'));
  expect(view.completedAt).toBeUndefined();
  expect(view.stalled).toMatchObject({ reason: 'a worker ended', resent: 1 });
  expect(view.still).toEqual({
    since: Date.parse('2026-01-02T03:04:30.000Z'),
    unheard: { chunks: 4, againBy: Date.parse('2026-01-02T03:05:20.000Z') },
    sentAgainAt: undefined,
  });
  expect(view.failure?.problems).toEqual([{ line: 7, message: 'line 7' }]);
  expect(view.report?.columns[0]?.samples).toEqual(['GL-1']);
  expect(view.settings).toMatchObject({ columns: [], idColumn: undefined, model: 'a-model' });
});

test('what is not of the form expected is refused where it comes in', () => {
  expect(() => readImport(told({ state: 'splendid' }))).toThrow('expected a state');
  expect(() => readImport(told({ rows: {} }))).toThrow('expected a number');
  expect(() => readImport(told({ createdAt: 'soon' }))).toThrow('expected a time');
  expect(() => readRow({ row: 1, id: 'a', state: 'pending' })).toThrow('expected a state of a row');
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      for (const read of [readImport, readRow, readEstimate]) {
        try {
          read(json);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
        }
      }
    }),
  );
});

test('a paused import is one to look at first until rows were sent', () => {
  expect(isBegun(readImport(told({ state: 'paused' })))).toBe(false);
  const startedAt = '2026-01-02T03:04:05.000Z';
  expect(isBegun(readImport(told({ state: 'paused', startedAt })))).toBe(true);
  expect(isBegun(readImport(told({ state: 'reading' })))).toBe(false);
});
