import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildPages } from '../../../local/pages/built.ts';
import { builtFiles } from '../../../web/files.ts';

// A build that notes each of its runs, in place of the real one.
const NOTING = `
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
mkdirSync('dist/pages/assets', { recursive: true });
writeFileSync('dist/pages/index.html', '');
writeFileSync('dist/pages/assets/index-1a2b.js', '');
writeFileSync('dist/glimpse-image.js', '');
appendFileSync('runs', '.');
`;

let root: string;
const build = (code: string) => writeFileSync(join(root, 'web', 'build.ts'), code);
const runs = () => readFileSync(join(root, 'runs'), 'utf8').length;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'glimpse-built-'));
  mkdirSync(join(root, 'web'));
  build(NOTING);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('the pages are built again only if something that goes in has changed, or they are gone', async () => {
  await buildPages(root);
  await buildPages(root);
  expect(runs()).toBe(1);
  writeFileSync(join(root, 'web', 'index.html'), 'changed');
  await buildPages(root);
  expect(runs()).toBe(2);
  rmSync(join(root, 'dist', 'pages'), { recursive: true });
  await buildPages(root);
  expect(runs()).toBe(3);
});

test('a build that failed is told of and not taken for a finished one', async () => {
  build(`throw new Error('index.html: no such script');`);
  await expect(buildPages(root)).rejects.toThrow(/could not be built:[\s\S]*no such script/);
  build(NOTING);
  await buildPages(root);
  expect(builtFiles(root).map(({ path }) => path)).toEqual([
    'assets/index-1a2b.js',
    'glimpse-image.js',
    'index.html',
  ]);
});

test('a file of a type that nobody knows is refused by name', async () => {
  build(`${NOTING} writeFileSync('dist/pages/film.mp4', '');`);
  await expect(buildPages(root)).resolves.toBeUndefined();
  expect(() => builtFiles(root)).toThrow(/expected a file of a known type .*, got film\.mp4\./);
});
