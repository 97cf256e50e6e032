import { describe, expect, test } from 'vitest';
import * as request from '../../../../functions/thumbnail-api/request.ts';
import { parse } from '../../../../shared/runtime/parse-request.ts';

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
      /^query: expected only "gallery", .*, got "page"$/,
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
    expect(() => parse(schema, 'query', input)).toThrow(sentence);
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

test('a page of a gallery is 80 images unless the caller says otherwise', () => {
  const query = parse(request.imagesQuery, 'query', { gallery: '', variant: 'card' });
  expect(query.limit).toBe(80);
});
