import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';

/** Ends what it is at in so many milliseconds, once it is told to stop. */
const command = (ms: number) => `
import { stopBySignals } from './cli/stop-by-signals.ts';
const signal = stopBySignals('the work under way ends');
signal.addEventListener('abort', () => setTimeout(() => process.exit(0), ${ms}));
setInterval(() => {}, 1000);
console.log('begun');
`;

async function begin(ms: number) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', command(ms)]);
  const said: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text) => said.push(text));
  await once(child.stdout, 'data');
  return { child, said, ended: once(child, 'exit') };
}

test('the first signal lets what runs end, and says so, also where it comes twice at once', async () => {
  const { child, said, ended } = await begin(800);
  child.kill('SIGINT');
  await sleep(50);
  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  expect(said.join('')).toBe('\nStopping: the work under way ends. Once more ends it at once.\n');
});

test.each(['SIGINT', 'SIGTERM'] as const)('a second one, %s, ends it at once', async (signal) => {
  const { child, ended } = await begin(60_000);
  child.kill('SIGINT');
  await sleep(700);
  child.kill(signal);
  expect(await ended).toEqual([130, null]);
});
