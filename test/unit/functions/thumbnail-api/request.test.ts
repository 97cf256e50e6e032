import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as request from '../../../../functions/thumbnail-api/request.ts';

describe('a request is refused in one sentence that says where and what', () => {
  test.each([
    [
      request.imagesQuery,
      { gallery: 'a', variant: 'card', limit: '0' },
      /^query\.limit: expected a whole number from 1 to 100, got "0"$/,
    ],
    [request.imagesQuery, { gallery: 'a', variant: 'card', limit: '1.5' }, /^query\.limit: /],
    [request.imagesQuery, { gallery: 'a', variant: 'card', limit: '101' }, /^query\.limit: /],
    [request.imagesQuery, { variant: 'card' }, /^query\.gallery: /],
    [
      request.imagesQuery,
      { gallery: 'a', variant: 'card', page: '2' },
      /[Uu]nrecognized key: "page"/,
    ],
    [
      request.imagesQuery,
      { gallery: 'é'.repeat(513), variant: 'card' },
      /^query\.gallery: expected at most 1024 bytes/,
    ],
    [request.thumbnailsBody, { images: [], variants: ['card'] }, /^query\.images: /],
    [
      request.thumbnailsBody,
      { images: Array(101).fill('a'), variants: ['card'] },
      /^query\.images: .*100/,
    ],
    [request.thumbnailsBody, { images: [1], variants: ['card'] }, /^query\.images\.0: /],
    [
      request.uploadBody,
      { image: 'a', contentType: 'text/html', bytes: 1 },
      /^query\.contentType: .*image\/jpeg.*, got "text\/html"$/,
    ],
    [
      request.uploadBody,
      { image: 'a', contentType: 'image/png', bytes: 0 },
      /^query\.bytes: .*, got 0$/,
    ],
    [request.uploadBody, undefined, /^query: /],
  ])('%#', (schema, input, sentence) => {
    expect(() => request.parse(schema, 'query', input)).toThrow(sentence);
  });

  test('also where a variant is not configured', () => {
    const card = {
      name: 'card',
      width: 1,
      height: 1,
      fit: 'inside',
      format: 'webp',
      quality: 1,
      orientation: 'exif',
    } as const;
    expect(() => request.chooseVariants(['card', 'huge'], [card])).toThrow(
      'variant: expected one of card, got "huge"',
    );
    expect(request.chooseVariants(['card', 'card'], [card])).toEqual([card]);
  });
});

test('a cursor comes back as it was given, and no other does', () => {
  const schema = z.strictObject({ after: z.string() });
  const cursor = request.encodeCursor({ after: 'ü/😀' });
  expect(cursor).toMatch(/^[\w-]+$/);
  expect(request.decodeCursor(schema, cursor)).toEqual({ after: 'ü/😀' });
  for (const text of ['', 'nonsense', request.encodeCursor({ before: 'a' }), 'e30']) {
    expect(() => request.decodeCursor(schema, text)).toThrow(/^query\.cursor: expected the cursor/);
  }
});

test('a page of a gallery is 80 images unless the caller says otherwise', () => {
  const query = request.parse(request.imagesQuery, 'query', { gallery: '', variant: 'card' });
  expect(query.limit).toBe(80);
});

test('numbers that JSON has no words for are shown as they are', () => {
  const upload = { image: 'a', contentType: 'image/png', bytes: Number.POSITIVE_INFINITY };
  expect(() => request.parse(request.uploadBody, 'body', upload)).toThrow(/got Infinity$/);
  expect(() => request.parse(request.uploadBody, 'body', null)).toThrow(
    /^body: expected object, got null$/,
  );
});
