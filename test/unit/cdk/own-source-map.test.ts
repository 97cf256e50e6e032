import { SourceMap, type SourceMapPayload } from 'node:module';
import { resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { expect, test } from 'vitest';
import { ownSourceMap } from '../../../cdk/constructs/own-source-map.ts';

const root = resolve(import.meta.dirname, '../../..');

/** A small bundle of ours with a package in it, as a function's is made. */
const { outputFiles } = buildSync({
  entryPoints: [`${root}/shared/thumbnails/image-item.ts`],
  outfile: '/bundle/index.js',
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'cjs',
  sourcemap: true,
  sourcesContent: false,
  mainFields: ['module', 'main'],
  write: false,
});
const textOf = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
const whole = textOf('.js.map');
const own = ownSourceMap(whole, '/bundle');

/** Where the bundle's places come from, by a map: nothing for what it does not know. */
function placesOf(map: string): string[] {
  const read = new SourceMap(JSON.parse(map) as SourceMapPayload);
  return textOf('.js')
    .split('\n')
    .flatMap((line, row) =>
      Array.from(line, (_, column) => {
        const found = read.findEntry(row, column);
        if (!('originalSource' in found) || found.originalSource === undefined) return '';
        const { originalSource, originalLine, originalColumn } = found;
        return [originalSource, originalLine, originalColumn, Reflect.get(found, 'name')].join(' ');
      }),
    );
}

test('every place in our own code leads where it led, and none leads into a package', () => {
  const before = placesOf(whole).map((place) =>
    // What was relative to the bundle is relative to the project.
    place.includes('/node_modules/') ? '' : place.replace(`..${root}/`, ''),
  );
  expect(placesOf(own)).toEqual(before);
  expect(before.filter((place) => place !== '').length).toBeGreaterThan(500);
  expect(before.filter((place) => place === '').length).toBeGreaterThan(20_000);
});

test('what is left is a small part', () => {
  expect(own.length).toBeLessThan(whole.length / 5);
});

test('no path of this machine is in it, so that the same code is the same asset on all', () => {
  expect(own).toContain('"shared/thumbnails/image-item.ts"');
  expect(own).not.toContain(root);
});
