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
  const { mappings, sources, names } = onlyOf(map.mappings, isOwn);
  return JSON.stringify({
    ...map,
    sources: sources.of(map.sources).map((source) => relative(root, resolve(folder, source))),
    names: names.of(map.names),
    mappings,
  });
}

/** Of a list, what is kept, numbered in the order in which it is met. */
class Kept {
  readonly #places = new Map<number, number>();

  placeOf(index: number): number {
    const place = this.#places.get(index) ?? this.#places.size;
    this.#places.set(index, place);
    return place;
  }

  of(list: readonly string[]): string[] {
    return [...this.#places.keys()].map((index) => list[index] ?? '');
  }
}

function onlyOf(mappings: string, isOwn: readonly boolean[]) {
  const sources = new Kept();
  const names = new Kept();
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
      const [at = 0, source = 0, row = 0, column = 0, name = 0] = read;
      const own = deltas.length > 1 && isOwn[source] === true;
      // One segment without a source ends what was mapped before it.
      if (!own && !mapped) return [];
      mapped = own;
      if (!own) return [encode([at], written)];
      const named = deltas.length === NUMBERS ? [names.placeOf(name)] : [];
      return [encode([at, sources.placeOf(source), row, column, ...named], written)];
    });
    return segments.join(',');
  });
  return { mappings: lines.join(';'), sources, names };
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
