import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { readOptions, wholeNumber } from '../../../cli/read-options.ts';
import { UsageError } from '../../../cli/usage-error.ts';

const OPTIONS = {
  rate: { type: 'string' },
  out: { type: 'string', default: 'here' },
  json: { type: 'boolean', default: false },
} as const;

test('values are taken as they are given, also those that begin with a dash', () => {
  expect(readOptions(['--rate', '-5', '--json'], OPTIONS)).toEqual({
    rate: '-5',
    out: 'here',
    json: true,
  });
  expect(readOptions(['--rate=--5', '--out=a=b'], OPTIONS)).toMatchObject({
    rate: '--5',
    out: 'a=b',
  });
});

test.each([
  [['--rate'], '--rate: expected a value, got none.'],
  [['--rate', '--json'], '--rate: expected a value, got none.'],
  [['--rate', ''], '--rate: expected a value, got "".'],
  [['--rate= '], '--rate: expected a value, got " ".'],
  [['--rate', '5', '--json', '--rate=6'], '--rate: expected it once, got it again.'],
  [['--json', '--json'], '--json: expected it once, got it again.'],
  [['--json=yes'], '--json: expected no value, got "yes".'],
  [['--pace', '5'], 'Expected an option that there is, got --pace. See --help.'],
  [['--toString'], 'Expected an option that there is, got --toString. See --help.'],
  [['-r', '5'], 'Expected an option that there is, got -r. See --help.'],
  [['5'], 'Expected options only, got "5". See --help.'],
  [['--', '--json'], 'Expected options only, got "--". See --help.'],
])('%j is a mistake that one sentence names', (given, sentence) => {
  expect(() => readOptions(given, OPTIONS)).toThrow(new UsageError(sentence));
});

test.each([
  '0',
  '-5',
  '+5',
  '1001',
  '1e2',
  '0x10',
  '5.',
  '5.0',
  ' 5',
  '1_0',
  '1,000',
  '٥',
  'Infinity',
])('%j is no whole number of an option', (text) => {
  expect(() => wholeNumber('--rate', text, 1, 1000)).toThrow(
    new UsageError(`--rate: expected a whole number from 1 to 1000, got "${text}".`),
  );
});

test('a whole number is read as people write it', () => {
  expect(['1', '007', '1000'].map((text) => wholeNumber('--rate', text, 1, 1000))).toEqual([
    1, 7, 1000,
  ]);
});

describe('a command', () => {
  test.concurrent.each([
    ['cli/backfill.ts', 'backfill: '],
    ['cli/explain.ts', 'explain: '],
    ['local/main.ts', ''],
  ])('%s ends with 2 and one sentence if it is called wrongly', async (command, before) => {
    const child = spawn(process.execPath, [command, '--unheard-of', '5']);
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    expect({ status, stdout, stderr }).toEqual({
      status: 2,
      stdout: '',
      stderr: `${before}Expected an option that there is, got --unheard-of. See --help.\n`,
    });
  });

  test.concurrent.each([
    ['--state', process.execPath, 'expected a folder that can be written to, got'],
    ['--state', '/proc/none', 'expected a folder that can be written to, got'],
    ['--cdk-out', '/nope', 'expected a folder that "cdk synth" has written, got'],
  ])('local/main.ts ends with 2 for %s %s', async (option, value, sentence) => {
    const child = spawn(process.execPath, ['local/main.ts', option, value]);
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(status).toBe(2);
    expect(stderr.startsWith(`${option}: ${sentence} ${value}`)).toBe(true);
  });

  test.concurrent.each(['explain', 'redrive', 'destroy', 'plan', 'sample', 'sweep'])(
    '%s tells a program of it in JSON',
    async (name) => {
      const child = spawn(process.execPath, [`cli/${name}.ts`, '--json', '--unheard-of', '5']);
      const [stdout, stderr, [status]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit'),
      ]);
      const error = 'Expected an option that there is, got --unheard-of. See --help.';
      expect({ status, stdout: JSON.parse(stdout) }).toEqual({ status: 2, stdout: { error } });
      expect(stderr).toBe(`${name}: ${error}\n`);
    },
  );
});
