import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSample, type Sample } from '../../../local/pages/sample.ts';
import { until } from './fixture-stack.ts';

// A command that does as it is told, in place of the one that makes pictures, which takes its time.

let root: string;
let sample: Sample;
const watched = new Set<number>();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'glimpse-sample-'));
  mkdirSync(join(root, 'cli'));
  watched.clear();
  sample = createSample(root, join(root, 'state'), {
    watch: (pid) => watched.add(pid),
    unwatch: (pid) => watched.delete(pid),
  });
});
afterEach(() => {
  sample.stop();
  rmSync(root, { recursive: true, force: true });
});

/** It notes its start, and with which options. */
function command(code: string): void {
  const starts = JSON.stringify(join(root, 'starts'));
  writeFileSync(
    join(root, 'cli', 'sample.ts'),
    `import { appendFileSync, existsSync } from 'node:fs';
     import { setTimeout as sleep } from 'node:timers/promises';
     appendFileSync(${starts}, process.argv.slice(2).join(' ') + '\\n');
     const root = ${JSON.stringify(root)};
     ${code}`,
  );
}

const starts = () => readFileSync(join(root, 'starts'), 'utf8').trim().split('\n');

test('is uploaded once at a time, and tells how far it is', async () => {
  command(`
    console.log('{"done":0,"total":3}');
    console.log('a word in between');
    console.log('{"done":1,"total":3}');
    while (!existsSync(root + '/go')) await sleep(10);
    console.log('{"done":3,"total":3}');
  `);
  expect(sample.state).toEqual({ state: 'idle', done: 0, total: 0 });
  const ended = [sample.start(), sample.start()];
  await until(() => sample.state.done === 1);
  expect(sample.state).toEqual({ state: 'running', done: 1, total: 3 });
  expect(watched.size).toBe(1);
  appendFileSync(join(root, 'go'), '');
  const done = { state: 'done', done: 3, total: 3 };
  expect(await Promise.all(ended)).toEqual([done, done]);
  expect(starts()).toEqual([`--json --state ${join(root, 'state')}`]);
  expect(watched.size).toBe(0);
  // And again, if it is asked for again.
  await sample.start();
  expect(starts()).toHaveLength(2);
});

test('says in a sentence why it failed', async () => {
  command(`console.log('{"done":1,"total":3}');
    console.error('sample: the bucket is gone');
    process.exitCode = 1;`);
  const failed = { state: 'failed', done: 1, total: 3, message: 'sample: the bucket is gone' };
  expect(await sample.start()).toEqual(failed);
  command(`throw new TypeError('nothing there');`);
  expect((await sample.start()).message).toBe('TypeError: nothing there');
});

test('ends when the local cloud does', async () => {
  command(`console.log('{"done":1,"total":3}'); await sleep(60_000);`);
  const ended = sample.start();
  await until(() => sample.state.done === 1);
  sample.stop();
  expect((await ended).state).toBe('failed');
  expect(existsSync(join(root, 'starts'))).toBe(true);
});
