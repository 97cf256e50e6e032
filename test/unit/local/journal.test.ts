import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openJournal } from '../../../local/gateway/journal.ts';

let folder: string;
let path: string;
const what = { bucket: 'b', key: 'a b/é.jpg', eventName: 'ObjectCreated:Put' };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'glimpse-journal-'));
  path = join(folder, 'notifications.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Where appending fails, as on a full disk. */
function unwritable(work: () => void): void {
  renameSync(path, `${path}.aside`);
  mkdirSync(path);
  work();
  rmSync(path, { recursive: true });
  renameSync(`${path}.aside`, path);
}

test('what was opened and not closed is left over, after a restart too', () => {
  const journal = openJournal(path);
  journal.close(journal.open(what));
  const intent = journal.open({ ...what, key: 'not done' });
  expect(openJournal(path).leftOver).toEqual([intent]);
  // Reading it is not doing it.
  expect(openJournal(path).leftOver).toEqual([intent]);
});

test('what cannot be crossed out is left over, and ends nothing', () => {
  const journal = openJournal(path);
  const intent = journal.open(what);
  unwritable(() => journal.close(intent));
  expect(openJournal(path).leftOver).toEqual([intent]);
});

test('a line that a kill cut short is passed over', () => {
  const intent = openJournal(path).open(what);
  appendFileSync(path, '{"open":{"id":"0');
  expect(openJournal(path).leftOver).toEqual([intent]);
});

test('ids grow, also within a millisecond, over restarts, and when the clock is set back', () => {
  const ids: string[] = [];
  for (let restart = 0; restart < 3; restart++) {
    const journal = openJournal(path);
    for (let count = 0; count < 3; count++) {
      const intent = journal.open(what);
      ids.push(intent.id);
      journal.close(intent);
    }
    vi.setSystemTime(Date.now() - 60_000);
  }
  vi.useRealTimers();
  expect(ids).toEqual([...new Set(ids)].sort());
});

test('what is done does not pile up', () => {
  const journal = openJournal(path);
  const long = { ...what, key: 'k'.repeat(1000) };
  const kept = journal.open(long);
  for (let count = 0; count < 3000; count++) journal.close(journal.open(long));
  expect(statSync(path).size).toBeLessThan(1_100_000);
  expect(readFileSync(path, 'utf8')).toContain(kept.id);
  expect(openJournal(path).leftOver).toEqual([kept]);
});
