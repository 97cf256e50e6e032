import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeFolder } from '../../../cli/make-folder.ts';
import { prepareOut } from '../../../cli/sweep/options.ts';
import { UsageError } from '../../../cli/usage-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'glimpse-folders-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('folders are made in folders, and the first of them is told', () => {
  expect(makeFolder(join(folder, 'a/b/c'))).toBe(join(folder, 'a'));
  expect(existsSync(join(folder, 'a/b/c'))).toBe(true);
  expect(makeFolder(join(folder, 'a/b/c'))).toBeUndefined();
});

test('where there can be none, the file system says so', () => {
  writeFileSync(join(folder, 'file'), '');
  expect(() => makeFolder(join(folder, 'file'))).toThrow('EEXIST');
  expect(() => makeFolder(join(folder, 'file/below'))).toThrow('ENOTDIR');
});

test.runIf(process.platform === 'linux')('also where Node itself never ends', async () => {
  expect(() => makeFolder('/proc/none')).toThrow('ENOENT');
  await expect(prepareOut('/proc/none/sweep.svg')).rejects.toThrow(UsageError);
});
