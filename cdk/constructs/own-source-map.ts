import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { z } from 'zod';

// A bundle's source map is larger than the bundle itself, and nearly all of it leads into packages.
// Stack traces need our own sources: the rest is left out. Mappings are lines of segments, each of
// up to five numbers in base 64, relative to the segment before: the column here; and there the
// source, line, column and name. See https://tc39.es/ecma426/.

const mapSchema = z.looseObject({
  sources: z.array(z.string()),
  names: z.array(z.string()),
  mappings: z.string(),
});

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** How many of a segment's numbers there are, at most. The first begins anew on each line. */
const NUMBERS = 5;

/** Sources are named from here, so that the same code is the same asset on every machine. */
const root = resolve(import.meta.dirname, '../..');

/** Leaves of the map in this file what leads into our own sources. */
export function keepOwnSources(file: string): void {
  writeFileSync(file, ownSourceMap(readFileSync(file, 'utf8'), dirname(file)));
}

/**
 * The same map without what leads into packages: there a stack trace shows the bundle's own place.
 *
 * @param folder what its sources are relative to
 */
export function ownSourceMap(text: string, folder: string): string {
  const map = mapSchema.parse(JSON.parse(text));
  const isOwn = map.sources.map((source) => !source.includes('/node_modules/'));
  const { mappings, used } = onlyOf(map.mappings, isOwn);
  // Both are found by their place, so that what is left out leaves an empty one.
  const sources = map.sources.map((source, index) =>
    isOwn[index] ? relative(root, resolve(folder, source)) : '',
  );
  const names = map.names.map((name, index) => (used.has(index) ? name : ''));
  return JSON.stringify({ ...map, sources, names, mappings });
}

function onlyOf(mappings: string, isOwn: readonly boolean[]) {
  const used = new Set<number>();
  const read = Array.from({ length: NUMBERS }, () => 0);
  const written = Array.from({ length: NUMBERS }, () => 0);
  const lines = mappings.split(';').map((line) => {
    read[0] = 0;
    written[0] = 0;
    let mapped = false;
    const segments = line.split(',').flatMap((segment) => {
      const deltas = decode(segment);
      deltas.forEach((delta, index) => {
        read[index] = (read[index] ?? 0) + delta;
      });
      const own = deltas.length > 1 && isOwn[read[1] ?? 0] === true;
      // One segment without a source ends what was mapped before it.
      if (!own && !mapped) return [];
      mapped = own;
      const [, , , , name] = read;
      if (own && deltas.length === NUMBERS && name !== undefined) used.add(name);
      return [encode(read.slice(0, own ? deltas.length : 1), written)];
    });
    return segments.join(',');
  });
  return { mappings: lines.join(';'), used };
}

function decode(segment: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

function encode(numbers: readonly number[], before: number[]): string {
  return numbers
    .map((number, index) => {
      const delta = number - (before[index] ?? 0);
      before[index] = number;
      let left = delta < 0 ? (-delta << 1) | 1 : delta << 1;
      let text = '';
      do {
        const bits = left & 31;
        left >>>= 5;
        text += DIGITS[left > 0 ? bits | 32 : bits];
      } while (left > 0);
      return text;
    })
    .join('');
}

// As a step of a bundling that is not ours.
if (import.meta.main) keepOwnSources(process.argv[2] ?? '');
