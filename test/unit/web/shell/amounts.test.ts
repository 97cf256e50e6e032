import { expect, test } from 'vitest';
import { bytesInWords, timeLeftInWords } from '../../../../web/shell/amounts.ts';

test.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1_000, '1 KB'],
  [333_333, '333 KB'],
  [999_600, '1 MB'],
  [4_840_000, '4.8 MB'],
  [9_960_000, '10 MB'],
  [50_000_000, '50 MB'],
  [1_230_000_000, '1.2 GB'],
  [5_000_000_000_000, '5000 GB'],
])('%i bytes are %s', (bytes, words) => {
  expect(bytesInWords(bytes)).toBe(words);
});

test.each([
  [5.1, '10 seconds left'],
  [54, '55 seconds left'],
  [70, 'About a minute left'],
  [150, 'About 3 minutes left'],
  [3_590, 'About an hour left'],
  [9_000, 'About 3 hours left'],
])('%f s are %s', (seconds, words) => {
  expect(timeLeftInWords(seconds)).toBe(words);
});
