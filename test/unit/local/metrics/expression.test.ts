import { expect, test } from 'vitest';
import { parseExpression } from '../../../../local/metrics/expression.ts';

const series = new Map([
  ['m1', [1, null, 3]],
  ['m2', [2, 4, 0]],
]);
const evaluate = (text: string) => parseExpression(text).evaluate({ series, period: 60 });

test.each([
  ['m1 / m2 * 1000', [500, null, null]],
  ['1 + 2 * 3', 7],
  ['(1 + 2) * 3', 9],
  ['10 - 2 - 3', 5],
  ['FILL(m1, 0) + m2', [3, 4, 3]],
  ['m2 / 1000 / PERIOD(m2) * 60000', [2, 4, 0]],
  ['IF(m2 > 1 AND FILL(m1, 0) < 1, 1, 0)', [0, 1, 0]],
  ['IF(m1 == 3 || m2 >= 4, m2, 9)', [9, null, 0]],
  ['m1 != 1 OR m2 <= 0', [0, null, 1]],
  ['100 * m1 / (m1 + m2)', [100 / 3, null, 100]],
])('%s is worked out point by point', (text, expected) => {
  expect(evaluate(text)).toEqual(expected);
});

test('what is missing is missing in what is worked out of it, and so is a division by nothing', () => {
  expect(evaluate('m1 + m2')).toEqual([3, null, 3]);
  expect(evaluate('m1 / m2')).toEqual([0.5, null, null]);
});

test.each([
  ["SEARCH('{AWS/SQS}', 'Sum')", "'"],
  ['SUM(m1)', 'SUM of 1'],
  ['FILL(m1, REPEAT)', 'REPEAT'],
  ['FILL(m1)', 'FILL of 1'],
  ['IF(m1, 1)', 'IF of 2'],
  ['m1 +', 'its end'],
  ['(m1', 'its end'],
  ['m1 m2', 'm2'],
  ['m1 % 2', '%'],
])('%s is an error that names what is not known', (text, named) => {
  expect(() => evaluate(text)).toThrow(`does not know ${named} in the expression ${text}.`);
});

test('the ids of an expression are told', () => {
  expect(parseExpression('IF(m1 > 0, FILL(m2, 0), 1)').ids).toEqual(['m1', 'm2']);
});
