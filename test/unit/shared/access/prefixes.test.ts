import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mayReach, parsePrefixes } from '../../../../shared/access/prefixes.ts';

const segment = fc
  .string({ minLength: 1, maxLength: 4, unit: 'grapheme' })
  .filter((text) => !text.includes('/'));
const gallery = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
/** `encodeURIComponent` leaves the asterisk, which alone means all. */
const encoded = (gallery: string) => encodeURIComponent(gallery).replaceAll('*', '%2A');
const claimOf = (galleries: readonly string[]) => galleries.map(encoded).join(' ');

test('a gallery that is called as all are is one gallery, where it is encoded', () => {
  expect(parsePrefixes('%2A')).toEqual(['*']);
  expect(parsePrefixes('a *')).toBe('all');
});

test('a prefix covers its gallery and what is below it, whatever they are called', () => {
  fc.assert(
    fc.property(gallery, fc.array(segment, { maxLength: 3 }), (prefix, below) => {
      const prefixes = parsePrefixes(claimOf([prefix]));
      expect(mayReach(prefixes, [prefix, ...below].join('/'))).toBe(true);
    }),
  );
});

test('a prefix covers nothing that only begins alike', () => {
  fc.assert(
    fc.property(gallery, segment, (prefix, more) => {
      expect(mayReach(parsePrefixes(claimOf([prefix])), prefix + more)).toBe(false);
    }),
  );
});

test('several cover what one of them covers, and no more, in whatever order and however often', () => {
  const some = fc.array(gallery, { maxLength: 5 });
  fc.assert(
    fc.property(some, gallery, (prefixes, asked) => {
      const each = prefixes.some((prefix) => mayReach(parsePrefixes(claimOf([prefix])), asked));
      const together = claimOf([...prefixes, ...prefixes].reverse());
      expect(mayReach(parsePrefixes(together), asked)).toBe(each);
    }),
  );
});

test('what API Gateway makes of a list says the same as the text', () => {
  fc.assert(
    fc.property(fc.array(gallery, { minLength: 1, maxLength: 4 }), (galleries) => {
      const claim = claimOf(galleries);
      expect(parsePrefixes(`[${claim}]`)).toEqual(parsePrefixes(claim));
    }),
  );
});

test.for([
  [undefined, []],
  ['', []],
  ['  ', []],
  ['[]', []],
  ['*', 'all'],
  ['[*]', 'all'],
  ['harbour *', 'all'],
  ['a%2Ab', ['a*b']],
  ['%2A', ['*']],
  ['a a/b a-b', ['a', 'a-b']],
  ['two%20words', ['two words']],
  ['%E0%A4%A', []],
] as const)('the claim %j is %j', ([claim, expected]) => {
  expect(parsePrefixes(claim)).toEqual(expected);
});

test('the folder without a name, and those of slashes, are nobody’s by another prefix', () => {
  for (const asked of ['', '/', '//', '/a']) {
    expect(mayReach(['a'], asked)).toBe(false);
    expect(mayReach('all', asked)).toBe(true);
  }
});
