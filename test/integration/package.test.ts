import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

// What others install: the element alone, with its types. The pages are built by the global setup.

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'glimpse-package-'));
  await run(process.execPath, [tsc, '-p', 'web/glimpse-image'], { cwd: root });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const tsc = join(root, 'node_modules/typescript/bin/tsc');

test('the element is smaller than 6 KB, gzipped', async () => {
  const script = await readFile(join(root, 'dist/glimpse-image.js'));
  expect(gzipSync(script, { level: 9 }).length).toBeLessThan(6000);
});

test('the package is the element and its types, and nothing of Glimpse itself', async () => {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
  });
  const packed = z
    .tuple([z.object({ files: z.array(z.object({ path: z.string() })) })])
    .parse(JSON.parse(stdout));
  const paths = packed[0].files.map(({ path }) => path.replace(/^dist\/types\/.*/, 'dist/types'));
  expect(new Set(paths)).toEqual(
    new Set(['LICENSE', 'README.md', 'package.json', 'dist/glimpse-image.js', 'dist/types']),
  );
});

test('its entry point is there, typed, and brings no import of its own', async () => {
  const { exports } = z
    .object({
      exports: z.object({
        './glimpse-image': z.object({ types: z.string(), default: z.string() }),
      }),
    })
    .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
  const entry = exports['./glimpse-image'];
  expect(await readFile(join(root, entry.default), 'utf8')).not.toMatch(/\bimport\s*[("{]/);
  expect(await readFile(join(root, entry.types), 'utf8')).toContain('class GlimpseImage');
});
