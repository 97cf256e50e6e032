import { expect, test } from 'vitest';
import { loadCover } from '../../../../web/gallery/galleries/load-cover.ts';
import type { View } from '../../../../web/glimpse-image/view.ts';

const view = (image: string, variants: View['variants'] = {}): View => ({
  image,
  width: undefined,
  height: undefined,
  variants,
  thumbhash: undefined,
  color: undefined,
  retryAfterMs: undefined,
  failure: undefined,
  at: 0,
});

function pages(...contents: View[][]) {
  const asked: unknown[] = [];
  let underWay = 0;
  return {
    asked,
    page: async (cursor?: string) => {
      underWay += 1;
      expect(underWay).toBe(1);
      asked.push(cursor);
      await Promise.resolve();
      underWay -= 1;
      const at = Number(cursor ?? 0);
      const next = at + 1 < contents.length ? String(at + 1) : undefined;
      return { items: contents[at] ?? [], cursor: next };
    },
  };
}

const coverOf = async ({ page }: ReturnType<typeof pages>) =>
  (await loadCover(page, 'card')).map(({ image }) => image);

test('a cover has the pictures of the first page, and asks for no other', async () => {
  const gallery = pages([view('g/a'), view('g/b')], [view('g/c')]);
  expect(await coverOf(gallery)).toEqual(['g/a', 'g/b']);
  expect(gallery.asked).toEqual([undefined]);
});

test('a cover follows the cursor, page after page, as long as it has nothing to show', async () => {
  const failed = {
    state: 'failed',
    url: undefined,
    expiresAt: undefined,
    width: undefined,
  } as const;
  const broken = view('g/broken', { card: failed });
  const gallery = pages([], [broken], [view('g/a')], [view('g/b')]);
  expect(await coverOf(gallery)).toEqual(['g/a']);
  expect(gallery.asked).toEqual([undefined, '1', '2']);
});

test('a cover gives up after four pages', async () => {
  const gallery = pages([], [], [], [], [view('g/far')]);
  expect(await coverOf(gallery)).toEqual([]);
  expect(gallery.asked).toEqual([undefined, '1', '2', '3']);
});

test('the cover of an empty gallery is empty', async () => {
  const gallery = pages([]);
  expect(await coverOf(gallery)).toEqual([]);
  expect(gallery.asked).toEqual([undefined]);
});
