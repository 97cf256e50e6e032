import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { z } from 'zod';

// What a function loads before its first call, and everyone waits for.

const run = promisify(execFile);

const LOAD = `
for (const bundle of process.argv.slice(1)) require(bundle);
console.log(JSON.stringify(process.moduleLoadList));
`;

test('no bundle has Node load undici before somebody fetches', async () => {
  const bundles = globSync(`${inject('cdkOut')}/asset.*/index.js`);
  expect(bundles.length).toBeGreaterThanOrEqual(8);
  const { stdout } = await run(process.execPath, ['--eval', LOAD, ...bundles]);
  const loaded = z.array(z.string()).parse(JSON.parse(stdout));
  expect(loaded).toContain('NativeModule https');
  expect(loaded.filter((name) => name.includes('undici'))).toEqual([]);
});
