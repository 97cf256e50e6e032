import { expect, test } from 'vitest';
import { atMostUsd, costUsd, estimateTokens } from '../../../../shared/summaries/estimate.ts';

test.each([
  ['', 0],
  ['word', 1],
  ['words', 2],
  ['Äpfel für Å', 3],
  ['椅子', 2],
  ['オーク材の椅子。', 8],
  ['의자', 2],
  ['стул', 2],
  ['كرسي', 2],
  ['👍', 2],
])('%j is about %i tokens', (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});

test('a cost is that of both kinds of tokens', () => {
  const prices = { inputUsdPerMillion: 0.15, outputUsdPerMillion: 0.6 };
  expect(costUsd({ inputTokens: 1_000_000, outputTokens: 500_000 }, prices)).toBeCloseTo(0.45, 10);
  expect(costUsd({ inputTokens: 0, outputTokens: 0 }, prices)).toBe(0);
});

test.each([
  [0.4704, '0.48 USD'],
  [0.07, '0.07 USD'],
  [0.00421, '0.0043 USD'],
  [1234.561, '1234.57 USD'],
])('at most %d dollars are told as %s, as much as a bound has to be', (amount, told) => {
  expect(atMostUsd(amount)).toBe(told);
});
