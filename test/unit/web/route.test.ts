import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  galleryNamed,
  galleryTitle,
  hrefOf,
  parseRoute,
  titleOf,
} from '../../../web/gallery/route.ts';
import { readViews } from '../../../web/glimpse-image/view.ts';

const key = fc.string({ unit: 'grapheme', minLength: 1 });

test('an address leads back to what it shows, whatever the keys', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.option(key, { nil: undefined }),
      (gallery, image) => {
        const { search } = new URL(hrefOf({ gallery, image }), 'https://pages.example');
        expect(parseRoute(search)).toEqual({ gallery, image });
      },
    ),
  );
});

test('without a gallery all are shown, or that of the image; the empty name is a gallery', () => {
  expect(parseRoute('')).toEqual({ gallery: undefined, image: undefined });
  expect(parseRoute('?image=a/b.jpg')).toEqual({ gallery: 'a', image: 'a/b.jpg' });
  expect(parseRoute('?image=b.jpg')).toEqual({ gallery: '', image: 'b.jpg' });
  expect(parseRoute('?image=/b.jpg')).toEqual({ gallery: '/', image: '/b.jpg' });
  expect(parseRoute('?gallery=')).toEqual({ gallery: '', image: undefined });
  expect(hrefOf({})).toBe('/');
  expect(galleryTitle('')).toBe('Without a folder');
});

test('names that a path would be resolved by are names like any other', () => {
  for (const gallery of ['.', '..', '/', '//', 'a/..', '../..', '%2e%2e', 'a//b']) {
    const image = `${gallery.replace(/\/$/, '')}/a.jpg`;
    const url = new URL(hrefOf({ gallery, image }), 'https://pages.example');
    expect(url.pathname).toBe('/');
    expect(parseRoute(url.search)).toEqual({ gallery, image });
    expect(galleryNamed(gallery)).toBe(gallery);
  }
  expect(galleryNamed(' /summer/2026/ ')).toBe('summer/2026');
  expect(galleryNamed(' ')).toBe('');
});

test('a picture is called by its file name', () => {
  expect(titleOf('a/b/sunrise-over-the_ridge.jpg')).toBe('sunrise over the ridge');
  expect(titleOf('v1.2')).toBe('v1');
  expect(titleOf('.jpg')).toBe('.jpg');
  expect(titleOf('---')).toBe('---');
});

test('answers are read without trust: what has the wrong form is as if it were not there', () => {
  const told = {
    images: [
      {
        image: 'a.jpg',
        width: '12',
        height: -3,
        variants: { card: { state: 'splendid', url: 7, expiresAt: 'soon' }, zoom: null },
        placeholder: null,
        failure: { class: 3 },
      },
    ],
  };
  expect(readViews(told, 5)).toEqual([
    {
      image: 'a.jpg',
      width: undefined,
      height: undefined,
      variants: {
        card: { state: 'pending', url: undefined, expiresAt: undefined },
        zoom: { state: 'pending', url: undefined, expiresAt: undefined },
      },
      thumbhash: undefined,
      color: undefined,
      retryAfterMs: undefined,
      failure: { class: '', reason: '', retryAt: undefined },
      at: 5,
    },
  ]);
  expect(() => readViews({ error: {} }, 0)).toThrow('expected an answer with images');
  expect(() => readViews({ images: [{}] }, 0)).toThrow('expected an image with a key');
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      try {
        readViews(json, 0);
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
      }
    }),
  );
});
