import { expect, test } from 'vitest';
import { type Call, createLedger } from '../../../../local/provider/ledger.ts';

function call(row: string, changes: Partial<Call> = {}): Call {
  const tokens = { inputTokens: 10, outputTokens: 2 };
  const how = { attempt: 1, status: 200, outcome: 'done', key: 'abcd', dialect: 'openai' } as const;
  return { row, start: 100, end: 900, ...tokens, ...how, ...changes };
}

test('the most in flight is that of any instant', () => {
  const ledger = createLedger(10);
  const through = [1, 1, -1, 1, 1, -1, -1, -1];
  for (const step of through) step === 1 ? ledger.enter() : ledger.end(call('a'));
  expect(ledger.summary()).toMatchObject({ mostInFlight: 3, inFlight: 0, calls: 4 });
});

test('sums are of all calls, also of those that the ledger has dropped', () => {
  const ledger = createLedger(3);
  for (const row of ['a', 'b', 'a', 'c', 'd']) {
    ledger.enter();
    ledger.begin(row);
    ledger.end(call(row));
  }
  expect(ledger.calls().map(({ row }) => row)).toEqual(['a', 'c', 'd']);
  expect(ledger.summary()).toMatchObject({
    calls: 5,
    ok: 5,
    dropped: 2,
    inputTokens: 50,
    spanMs: 800,
  });
});

test('a row is paid for more than once if two answers were made, whether or not they arrived', () => {
  const ledger = createLedger(10);
  const lost = { status: 'aborted' } as const;
  const refused = { status: 429, outcome: 'limit-requests', inputTokens: 0, outputTokens: 0 };
  for (const each of [call('a', lost), call('a'), call('a'), call('b', refused), call('b')]) {
    ledger.enter();
    ledger.begin(each.row);
    ledger.end(each);
  }
  expect(ledger.summary()).toMatchObject({
    ok: 3,
    rows: 2,
    rowsPaidMoreThanOnce: 1,
    byStatus: { 200: 3, 429: 1, aborted: 1 },
    byOutcome: { done: 4, 'limit-requests': 1 },
  });
  ledger.clear();
  expect(ledger.begin('a')).toEqual({ attempt: 1, call: 1 });
  expect(ledger.summary()).toMatchObject({ calls: 0, ok: 0, rows: 1, spanMs: 0, byStatus: {} });
});
