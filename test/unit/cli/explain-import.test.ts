import { describe, expect, test } from 'vitest';
import type { FleetTold, ImportTold } from '../../../cli/explain/ask-api.ts';
import { explainImport } from '../../../cli/explain/explain-import.ts';

const NOW = Date.parse('2026-03-01T12:01:40Z');

/** A bulk import that has run for 100 seconds. */
const imported = (changes: Partial<ImportTold> = {}): ImportTold => ({
  importId: '01abc',
  name: 'autumn.csv',
  mode: 'bulk',
  state: 'running',
  rows: { total: 10_000, done: 4150, failed: 50 },
  waits: { gateMs: 8_400_000, allowanceMs: 4_200_000, yieldMs: 0, refusedMs: 42_000 },
  startedAt: '2026-03-01T12:00:00.000Z',
  etaSeconds: 138,
  ...changes,
});

const HELP = ['Ask the provider for a larger quota.'];

const fleet = (changes: Partial<FleetTold> = {}): FleetTold => ({
  plan: { lines: [{ line: 'shared', modes: ['interactive', 'bulk'] }] },
  measured: {
    interactive: { callsPerSecond: 0, inFlight: 0 },
    bulk: { callsPerSecond: 83, inFlight: 66, serviceSeconds: 0.795 },
  },
  lines: [
    { line: 'shared', diagnosis: { code: 'quota', words: 'The requests are used.', help: HELP } },
  ],
  ...changes,
});

test('a running import: how far, how fast, what its rows wait for, what limits the fleet', () => {
  expect(explainImport(imported(), fleet(), NOW)).toEqual({
    code: 'allowance',
    words: [
      '“autumn.csv” (bulk) is running: 4,200 of 10,000 rows, 50 of them failed, 42 a second, about 138 s left.',
      'Its rows wait most for the shared allowance.',
      'A row waited 2 s for a free place in their process, 1 s for the shared allowance, 0 ms for callers that are not Glimpse’s, 10 ms after refusals and failures of the provider on average.',
      'The fleet: The requests are used.',
    ],
    help: HELP,
    measured: {
      rowsPerSecond: 42,
      waitsARow: { gate: 2000, allowance: 1000, yield: 0, refused: 10 },
      serviceSeconds: 0.795,
    },
  });
});

describe('the wait that dominates', () => {
  test.each([
    ['yield', { allowanceMs: 1_000_000, yieldMs: 5_000_000 }],
    ['refused', { allowanceMs: 1_000_000, refusedMs: 5_000_000 }],
    ['gate', { allowanceMs: 42_000, gateMs: 5_000_000 }],
    ['service', { gateMs: 42_000 }],
  ])('is %s', (code, waits) => {
    const none = { gateMs: 0, allowanceMs: 0, yieldMs: 0, refusedMs: 0 };
    expect(explainImport(imported({ waits: { ...none, ...waits } }), fleet(), NOW).code).toBe(code);
  });

  test('is none where calls alone take the time', () => {
    const waits = { gateMs: 0, allowanceMs: 0, yieldMs: 0, refusedMs: 0 };
    const { words } = explainImport(imported({ waits }), fleet(), NOW);
    expect(words[1]).toBe(
      'Its rows wait for nothing that is felt: the time is that of the calls, 0.795 s each.',
    );
  });
});

test('where the modes have accounts of their own, it is that of its mode', () => {
  const own = (words: string) => ({ code: 'quota', words, help: [words] });
  const two = fleet({
    plan: {
      lines: [
        { line: 'interactive', modes: ['interactive'] },
        { line: 'bulk', modes: ['bulk'] },
      ],
    },
    lines: [
      { line: 'interactive', diagnosis: own('Interactive.') },
      { line: 'bulk', diagnosis: own('Bulk.') },
    ],
  });
  const watched = imported({ mode: 'interactive' });
  expect(explainImport(imported(), two, NOW).words.at(-1)).toBe('The fleet: Bulk.');
  expect(explainImport(watched, two, NOW)).toMatchObject({
    help: ['Interactive.'],
    measured: { serviceSeconds: undefined },
  });
});

describe('an import that does not run says why:', () => {
  const failure = {
    code: 'key-refused',
    message: 'The provider refused the key: give a valid one',
  };

  test.each([
    ['awaiting-upload', {}, 'awaiting-upload', 'waits for its file'],
    ['reading', {}, 'reading', 'is being read'],
    ['paused', { failure }, 'key-refused', 'give a valid one.'],
    ['paused', {}, 'paused', 'is paused after 4,200 of 10,000 rows'],
    ['failed', { failure }, 'key-refused', 'give a valid one.'],
    ['completed-with-failures', {}, 'completed-with-failures', 'is at its end: 4,200'],
    ['cancelled', {}, 'cancelled', 'is at its end'],
  ])('%s', (state, changes, code, words) => {
    const told = explainImport(imported({ state, ...changes }), fleet(), NOW);
    expect(told.code).toBe(code);
    expect(told.words.join(' ')).toContain(words);
  });

  test('at a standstill', () => {
    const since = new Date(NOW - 35_000).toISOString();
    const told = explainImport(imported({ still: { since } }), fleet(), NOW);
    expect(told.words).toContain('No row was written for 35 s.');
  });

  test('stalled, by the reaper', () => {
    const told = explainImport(
      imported({ stalled: { reason: 'no worker took it' } }),
      fleet(),
      NOW,
    );
    expect(told.code).toBe('stalled');
    expect(told.words).toContain('It is stalled. No worker took it.');
  });
});

test('an import of which nothing is written yet has no pace to speak of', () => {
  const begun = imported({ rows: { total: 50, done: 0, failed: 0 }, startedAt: undefined });
  const { words, measured } = explainImport(begun, fleet(), NOW);
  expect(measured.rowsPerSecond).toBeUndefined();
  expect(words.join(' ')).not.toMatch(/NaN|undefined|Infinity/);
});
