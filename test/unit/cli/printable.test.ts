import { expect, test } from 'vitest';
import { printable, printableLines } from '../../../cli/printable.ts';

test.each([
  ['trips/a b/ü + 🏔.jpg', 'trips/a b/ü + 🏔.jpg'],
  ['a\nb\r\tc', 'a\\nb\\r\\tc'],
  ['\u001b[2J\u001b]0;title\u0007', '\\u001b[2J\\u001b]0;title\\u0007'],
  ['\u009b31m\u007f\u0000', '\\u009b31m\\u007f\\u0000'],
  ['a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
  ['cat\u202egpj.exe', 'cat\\u202egpj.exe'],
])('%j is shown, and not obeyed', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test('lines that are meant stay lines', () => {
  expect(printableLines('one\n\ttwo\u001b[31m\n')).toBe('one\n\ttwo\\u001b[31m\n');
});
