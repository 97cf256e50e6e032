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
  etaSeconds: 145,
  ...changes,
});

const HELP = ['Ask the provider for a larger quota.'];

const fleet = (changes: Partial<FleetTold> = {}): FleetTold => ({
  plan: {
    lines: [{ line: 'shared', modes: ['interactive', 'bulk'], measured: { serviceSeconds: 0.8 } }],
  },
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
      '“autumn.csv” (bulk) is running: 4,200 of 10,000 rows, 50 of them failed, 40 a second, about 145 s left.',
      'Its rows wait longest for a free place in their process, 2 s each, behind rows that wait for the shared allowance, 1 s each: that is the cause.',
      'A row waited 2 s for a free place in their process, 1 s for the shared allowance, 0 ms for callers that are not Glimpse’s, 10 ms after refusals and failures of the provider on average.',
      'The fleet: The requests are used.',
    ],
    help: HELP,
    measured: {
      rowsPerSecond: 40,
      waitsARow: { gate: 2000, allowance: 1000, yield: 0, refused: 10 },
      longest: 'gate',
      serviceSeconds: 0.795,
    },
  });
});

describe('what holds it', () => {
  const none = { gateMs: 0, allowanceMs: 0, yieldMs: 0, refusedMs: 0 };
  const at = (waits: Partial<ImportTold['waits']>, code = 'inside') =>
    explainImport(
      imported({ waits: { ...none, ...waits } }),
      fleet({ lines: [{ line: 'shared', diagnosis: { code, words: 'So.', help: HELP } }] }),
      NOW,
    );
  // Of 4,200 rows.
  const each = (ms: number) => 4200 * ms;

  test.each<[code: string, words: RegExp, waits: Partial<ImportTold['waits']>, fleet?: string]>([
    ['yield', /longest for callers that .*, 5 s each\.$/, { yieldMs: each(5000), gateMs: each(1) }],
    ['refused', /longest after refusals .*, 5 s each\.$/, { refusedMs: each(5000) }],
    ['allowance', /longest for the shared allowance, 3 s each\.$/, { allowanceMs: each(3000) }],
    // Places are taken by rows that wait for something.
    [
      'allowance',
      /longest for a free place .*, 9 s each, behind .* allowance, 400 ms each: that is the cause/,
      { gateMs: each(9000), allowanceMs: each(400) },
    ],
    [
      'yield',
      /9 s each, behind .* not Glimpse’s, 2 s/,
      { gateMs: each(9000), yieldMs: each(2000) },
    ],
    ['refused', /9 s each, behind .* after .*, 2 s/, { gateMs: each(9000), refusedMs: each(2000) }],
    // By calls, though a row also waits a little for its turn.
    [
      'gate',
      /longest for a free place in their process, 9 s each, behind the calls that are under way, 795 ms each\.$/,
      { gateMs: each(9000), allowanceMs: each(120) },
    ],
    // Unless the account is known to be what limits.
    ['allowance', /: that is the cause/, { gateMs: each(9000), allowanceMs: each(120) }, 'quota'],
    ['service', /nothing that is felt: .* of the calls, 0\.795 s each\.$/, { gateMs: each(10) }],
  ])('is %s where %s', (code, words, waits, fleetCode) => {
    const told = at(waits, fleetCode);
    expect(told.words[1]).toMatch(words);
    expect(told.code).toBe(code);
  });

  test('the longest wait is the one that it names, whatever causes it', () => {
    expect(at({ gateMs: each(9000), allowanceMs: each(400) }).measured.longest).toBe('gate');
    expect(at({ gateMs: each(300), allowanceMs: each(400) }).measured.longest).toBe('allowance');
    expect(at({}).measured.longest).toBeUndefined();
  });

  test('a call takes as long as it is planned, where none is measured', () => {
    const measured = fleet().measured;
    const silent = fleet({
      measured: { ...measured, bulk: { callsPerSecond: 0, inFlight: 0 } },
      lines: [],
    });
    const waits = { ...none, gateMs: each(9000), allowanceMs: each(190) };
    const told = explainImport(imported({ waits }), silent, NOW);
    expect(told.words[1]).toContain('under way, 800 ms each.');
  });

  test('is not known before a row has ended', () => {
    const rows = { total: 812, done: 0, failed: 0 };
    const told = explainImport(imported({ rows, waits: none }), fleet(), NOW);
    expect(told.code).toBe('starting');
    expect(told.words.slice(1)).toEqual([
      'No row has ended yet, so that nothing is measured.',
      'The fleet: The requests are used.',
    ]);
  });
});

test('where the modes have accounts of their own, it is that of its mode', () => {
  const own = (words: string) => ({ code: 'quota', words, help: [words] });
  const two = fleet({
    plan: {
      lines: [
        { line: 'interactive', modes: ['interactive'], measured: { serviceSeconds: 0.8 } },
        { line: 'bulk', modes: ['bulk'], measured: { serviceSeconds: 0.8 } },
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
    ['failed', { failure }, 'key-refused', 'has failed after 4,200'],
    ['completed-with-failures', {}, 'completed-with-failures', 'is at its end: 4,200'],
    ['cancelled', {}, 'cancelled', 'was cancelled: 4,200'],
  ])('%s', (state, changes, code, words) => {
    const told = explainImport(imported({ state, ...changes }), fleet(), NOW);
    expect(told.code).toBe(code);
    expect(told.words.join(' ')).toContain(words);
  });

  test('and how a paused one goes on: what is to be done before is only known of one that Glimpse has paused', () => {
    const helpOf = (changes: object) =>
      explainImport(imported({ state: 'paused', ...changes }), fleet(), NOW).help;
    expect(helpOf({ failure })).toEqual(['Resume it once that is done.']);
    expect(helpOf({})).toEqual(['Resume it when it should go on.']);
  });

  test('at a standstill', () => {
    const since = new Date(NOW - 35_000).toISOString();
    const told = explainImport(imported({ still: { since } }), fleet(), NOW);
    expect(told.words).toContain('No row was written for 35 s.');
  });

  test('whose workers have not been heard of: before what its rows waited for', () => {
    const iso = (ms: number) => new Date(NOW + ms).toISOString();
    const told = (chunks: number, againBy: number) =>
      explainImport(
        imported({ still: { since: iso(-35_000), unheard: { chunks, againBy: iso(againBy) } } }),
        fleet(),
        NOW,
      ).words;
    const words = told(16, 19_200);
    expect(words.slice(1, 3)).toEqual([
      'No row was written for 35 s.',
      'The workers of 16 chunks have not been heard of: what they had begun is sent again by itself, within 20 s.',
    ]);
    expect(words[3]).toMatch(/^Its rows wait/);
    expect(told(1, -1)[2]).toBe(
      'The worker of one chunk has not been heard of: what they had begun is sent again by itself, any moment now.',
    );
    const since = iso(-35_000);
    const again = explainImport(
      imported({ still: { since, sentAgainAt: iso(-4000) } }),
      fleet(),
      NOW,
    );
    expect(again.words[2]).toBe('What a worker had begun when it ended was sent again 4 s ago.');
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
  const begun = imported({
    rows: { total: 50, done: 0, failed: 0 },
    startedAt: undefined,
    etaSeconds: undefined,
  });
  const { words, measured } = explainImport(begun, fleet(), NOW);
  expect(measured.rowsPerSecond).toBeUndefined();
  expect(words.join(' ')).not.toMatch(/NaN|undefined|Infinity/);
});
