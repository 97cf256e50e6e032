import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidRequestError } from '../../../../shared/errors.ts';
import {
  compareKeys,
  galleryPrefix,
  isThumbnailOf,
  joinImage,
  parseImageKey,
  splitImage,
  thumbnailKey,
  thumbnailRoot,
} from '../../../../shared/thumbnails/image-key.ts';

const ETAG = '0123456789abcdef0123456789abcdef';
const card = { name: 'card', format: 'webp' } as const;

/** Keys with many slashes and dots, and whatever else Unicode has. */
const keys = fc
  .array(
    fc.oneof(
      fc.constantFrom('/', '.', '..', '+', '%', '%25', ' ', '~'),
      fc.string({ unit: 'grapheme' }),
    ),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((parts) => parts.join(''))
  .filter((key) => key !== '' && !key.endsWith('/') && key.isWellFormed());

describe('splitting a key', () => {
  test('gives back every key, byte for byte', () => {
    fc.assert(
      fc.property(keys, (key) => {
        expect(joinImage(splitImage(key))).toBe(key);
      }),
    );
  });

  test('puts two keys into one gallery only where they share the folder', () => {
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        const folderOf = (key: string) => key.slice(0, key.lastIndexOf('/') + 1);
        expect(splitImage(a).gallery === splitImage(b).gallery).toBe(folderOf(a) === folderOf(b));
      }),
    );
  });

  test.each([
    ['a/b/c.jpg', 'a/b', 'a/b/'],
    ['c.jpg', '', ''],
    ['/c.jpg', '/', '/'],
    ['//c.jpg', '//', '//'],
    ['a//c.jpg', 'a/', 'a//'],
    ['/a/c.jpg', '/a', '/a/'],
  ])('%s is in the gallery "%s"', (image, gallery, prefix) => {
    expect(splitImage(image)).toEqual({ gallery, name: 'c.jpg' });
    expect(galleryPrefix(gallery)).toBe(prefix);
  });
});

describe("a thumbnail's key", () => {
  test('is rooted at the image and versioned by its ETag', () => {
    expect(thumbnailKey('a/b c.jpg', ETAG, card)).toBe(`a/b c.jpg/${ETAG}/card.webp`);
  });

  test('fits S3, survives a browser and belongs to its image alone, whatever the image is called', () => {
    fc.assert(
      fc.property(keys, keys, (image, other) => {
        const key = thumbnailKey(image, ETAG, card);
        expect(Buffer.byteLength(key)).toBeLessThanOrEqual(1024);
        const path = key.split('/').map(encodeURIComponent).join('/');
        expect(new URL(`http://host/bucket/${path}`).pathname).toBe(`/bucket/${path}`);
        expect(isThumbnailOf(image, key)).toBe(true);
        if (image !== other) {
          expect(thumbnailRoot(other)).not.toBe(thumbnailRoot(image));
          expect(isThumbnailOf(other, key)).toBe(false);
        }
      }),
    );
  });

  test.each(['../up.jpg', 'a/../b.jpg', 'a/./b.jpg', 'x'.repeat(1024), 'é'.repeat(500)])(
    'is rooted at a hash where the image cannot be: %s',
    (image) => {
      expect(thumbnailRoot(image)).toMatch(/^~\/[0-9a-f]{64}$/);
    },
  );

  test('of an image that looks like such a hash is another one', () => {
    const root = thumbnailRoot('../up.jpg');
    expect(thumbnailRoot(root)).not.toBe(root);
  });

  test('is not taken for one of the folder of its own name', () => {
    expect(isThumbnailOf('a/b', `a/b/c.jpg/${ETAG}/card.webp`)).toBe(false);
    expect(isThumbnailOf('a/b', `a/b/${ETAG}/card.webp`)).toBe(true);
    expect(isThumbnailOf('a/b', `a/b/${ETAG}-12/zoom.avif`)).toBe(true);
    expect(isThumbnailOf('a/b', `a/bc/${ETAG}/card.webp`)).toBe(false);
  });
});

describe("a caller's key", () => {
  test.each([
    ['', 'the key of an object'],
    ['a/', 'an image, not a folder'],
    ['x'.repeat(1025), 'at most 1024 bytes'],
    ['\ud800.jpg', 'well-formed Unicode'],
  ])('"%.10s" is refused', (image, reason) => {
    expect(() => parseImageKey(image)).toThrow(InvalidRequestError);
    expect(() => parseImageKey(image)).toThrow(reason);
  });

  test('is otherwise taken as it is', () => {
    for (const key of ['a+b%20c', '..', '/', ' ', '\u0301'].map((part) => `${part}/x`)) {
      expect(parseImageKey(key)).toBe(key);
    }
  });
});

test('keys sort as S3 and DynamoDB sort them, by bytes', () => {
  expect(['\u{1f600}', '\u{ff5e}', 'b', 'B'].sort(compareKeys)).toEqual([
    'B',
    'b',
    '\u{ff5e}',
    '\u{1f600}',
  ]);
});
