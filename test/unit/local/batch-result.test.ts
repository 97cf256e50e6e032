import { describe, expect, test } from 'vitest';
import type { Invoked } from '../../../local/functions/pool.ts';
import { doneMessages } from '../../../local/mappings/batch-result.ts';

const IDS = ['a', 'b', 'c'];
const answered = (answer: unknown) =>
  ({ kind: 'answer', payload: JSON.stringify(answer) }) as const;
const failed = (...ids: unknown[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
});
const error: Invoked = {
  kind: 'error',
  error: { errorType: 'Error', errorMessage: '', trace: [] },
};

describe('with partial failures reported, the messages that are done', () => {
  test.each([
    [null, IDS],
    ['', IDS],
    [{}, IDS],
    [failed(), IDS],
    [{ batchItemFailures: null }, IDS],
    [failed('b'), ['a', 'c']],
    [failed('a', 'b', 'c'), []],
    [failed('b', 'b'), ['a', 'c']],
    [failed('unknown'), []],
    [failed('b', 'unknown'), []],
    [failed(''), []],
    [failed(null), []],
    [{ batchItemFailures: [{ itemIdentifer: 'b' }] }, []],
    [{ batchItemFailures: 'b' }, []],
    ['a text', []],
  ])('after %j are %j', (answer, done) => {
    expect(doneMessages(answered(answer), IDS, true)).toEqual(done);
  });

  test('after an error or a throttle are none', () => {
    expect(doneMessages(error, IDS, true)).toEqual([]);
    expect(doneMessages({ kind: 'throttled' }, IDS, true)).toEqual([]);
  });
});

test('without, every answer means that all are done, and an error that none is', () => {
  expect(doneMessages(answered(failed('unknown')), IDS, false)).toEqual(IDS);
  expect(doneMessages(error, IDS, false)).toEqual([]);
});
