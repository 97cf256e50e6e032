import { describe, expect, test } from 'vitest';
import { readImport } from '../../../../web/imports/import-view.ts';
import {
  ago,
  atMost,
  count,
  duration,
  holdInWords,
  money,
  newsOf,
  percent,
  sentence,
  stateInWords,
  stillInWords,
  timeInWords,
  tokens,
  toneOf,
  transferInWords,
  waitsInWords,
} from '../../../../web/imports/in-words.ts';
import { told } from './told.ts';

const view = (changes: Record<string, unknown>) => readImport(told(changes));

describe('amounts', () => {
  test('are those of the locale', () => {
    expect(count(1_234_567, 'en')).toBe('1,234,567');
    expect(count(1_234_567, 'de')).toBe('1.234.567');
    expect(money(1234.5, 'en')).toBe('$1,234.50');
    expect(money(0.34, 'de')).toBe('0,34\u00a0$');
  });

  test('of less than a cent are not nothing', () => {
    expect(money(0, 'en')).toBe('$0.00');
    expect(money(0.00421, 'en')).toBe('$0.0042');
    expect(money(0.01, 'en')).toBe('$0.01');
  });

  test('what an import costs at most is rounded up, so that a bound of as much will do', () => {
    expect(atMost(0.4704, 'en')).toBe('$0.48');
    expect(atMost(0.07, 'en')).toBe('$0.07');
    expect(atMost(0.00421, 'en')).toBe('$0.0043');
    expect(atMost(0, 'en')).toBe('$0.00');
  });

  test('of many tokens leave out what nobody reads', () => {
    expect(tokens(98_412, 'en')).toBe('98,412');
    expect(tokens(1_624_000, 'en')).toBe('1.62M');
  });

  test('that are not all are not 100 %', () => {
    expect(percent(811, 812, 'en')).toBe('99%');
    expect(percent(812, 812, 'en')).toBe('100%');
    expect(percent(0, 0, 'en')).toBe('0%');
  });
});

test.each([
  [10_000, 'just now'],
  [60_000, '1 minute ago'],
  [59 * 60_000, '59 minutes ago'],
  [5 * 3_600_000, '5 hours ago'],
  [30 * 3_600_000, 'yesterday'],
  [40 * 86_400_000, 'Nov 22, 2025'],
  [-5_000, 'just now'],
])('%i ms before is %s', (past, words) => {
  const now = Date.UTC(2026, 0, 1, 12);
  expect(ago(now - past, now, 'en')).toBe(words);
});

test.each([
  [420, '0.4 s'],
  [9_949, '9.9 s'],
  [70_000, '70 s'],
  [200_000, '3 min'],
  [3_600_000, '1 h'],
  [3_900_000, '1 h 5 min'],
])('%i ms are %s', (ms, words) => {
  expect(duration(ms)).toBe(words);
});

test('a message becomes a sentence, and one that is stays', () => {
  expect(sentence('line 7 has 2 fields')).toBe('Line 7 has 2 fields.');
  expect(sentence('Done.')).toBe('Done.');
  expect(sentence('')).toBe('');
});

test('a pause before the first row is another thing than one in the midst of them', () => {
  expect(stateInWords(view({ state: 'paused' }))).toBe('Ready to start');
  const startedAt = '2026-01-02T03:04:05.000Z';
  expect(stateInWords(view({ state: 'paused', startedAt }))).toBe('Paused');
  expect(stateInWords(view({ state: 'failed' }))).toBe('Not imported');
});

test('what has stalled is no ordinary run, and has no end to tell', () => {
  const stalled = { reason: 'a worker ended', resent: 1, at: '2026-01-02T03:04:00.000Z' };
  const running = view({ state: 'running', etaSeconds: 130, stalled });
  expect(toneOf(running)).toBe('warning');
  expect(timeInWords(running, 0)).toBe('');
  expect(newsOf(running)).toBe('Stalled. A worker ended.');
  expect(timeInWords(view({ state: 'running', etaSeconds: 130 }), 0)).toBe('About 2 minutes left');
});

describe('a standstill', () => {
  const since = Date.UTC(2026, 0, 2, 3, 4);
  const iso = (ms: number) => new Date(since + ms).toISOString();
  const still = (unheard?: object) =>
    view({ state: 'running', still: { since: iso(0), ...(unheard ? { unheard } : {}) } });

  test('is told by how long it lasts, and no end is told', () => {
    expect(timeInWords(still(), since + 35_400)).toBe('No new row for 35 s');
    expect(timeInWords(still(), since + 200_000)).toBe('No new row for 3 min');
    // By a clock that is behind.
    expect(timeInWords(still(), since - 60_000)).toBe('No new row for 10 s');
    expect(newsOf(still())).toBe('Running, and no row comes just now');
  });

  test('of workers that are not heard of says when what they had is sent again', () => {
    const said = (chunks: number, ms: number) => {
      const { still: told } = still({ chunks, againBy: iso(50_000) });
      return told === undefined ? '' : stillInWords(told, since + ms);
    };
    expect(said(16, 12_000)).toMatch(
      /^The workers of 16 chunks of rows have not been heard of\. .* sent again by itself, within 40 seconds\./,
    );
    expect(said(1, 48_000)).toMatch(/^The worker of one chunk .* any moment now\./);
    expect(said(1, 90_000)).toMatch(/any moment now/);
  });

  test('of what was sent again says that it goes on', () => {
    const again = { since, unheard: undefined, sentAgainAt: since + 36_000 };
    expect(stillInWords(again, since + 37_000)).toMatch(/^What a worker had begun .* sent again/);
    // While others are not heard of, that is what one waits for.
    const unheard = { chunks: 2, againBy: since + 50_000 };
    expect(stillInWords({ ...again, unheard }, since + 37_000)).toMatch(/^The workers of 2 chunks/);
  });

  test('of rows that nobody has begun says that they wait', () => {
    const unsaid = { since, unheard: undefined, sentAgainAt: undefined };
    expect(stillInWords(unsaid, since)).toMatch(/^Its rows wait .* by itself/);
  });
});

test('a file that is all sent is not there before the storage says so', () => {
  const said = (state: string, sent: number) => transferInWords({ state, sent, bytes: 2000 }, 'en');
  expect(said('sending', 0).title).toBe('Sending the file');
  expect(said('sending', 1999).detail).toMatch(/99%$/);
  expect(said('sending', 2000).title).toBe('Being stored…');
  expect(said('sending', 2000).detail).not.toMatch(/%/);
  expect(said('sent', 2000).title).toBe('The file is there');
});

test('whether an import begins by itself is said before it could', () => {
  expect(holdInWords(view({ state: 'reading', hold: true }))).toMatch(/waits for you/);
  expect(holdInWords(view({ state: 'awaiting-upload', hold: false }))).toMatch(/begins by itself/);
});

test('the live region speaks of quarters, and not of rows', () => {
  const said = new Set<string>();
  for (let done = 0; done < 812; done += 1) {
    said.add(newsOf(view({ state: 'running', rows: { total: 812, done, failed: 0 } })));
  }
  expect([...said]).toEqual([
    'Running',
    'Running, 25 percent of 812 rows',
    'Running, 50 percent of 812 rows',
    'Running, 75 percent of 812 rows',
  ]);
});

test('waits are told by row, the longest first, and those that nobody feels are not', () => {
  const waits = { gateMs: 81_200, allowanceMs: 812_000, yieldMs: 100, refusedMs: 0 };
  const rows = { total: 1000, done: 800, failed: 12 };
  const told = waitsInWords(view({ state: 'running', waits, rows }));
  expect(told.map(({ kind, perRowMs }) => [kind, perRowMs])).toEqual([
    ['allowanceMs', 1000],
    ['gateMs', 100],
  ]);
});
