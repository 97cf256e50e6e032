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

async function coverOf({ page }: ReturnType<typeof pages>) {
  const cover = await loadCover(page, 'card');
  return typeof cover === 'string' ? cover : cover.map(({ image }) => image);
}

const failed = { state: 'failed', url: undefined, expiresAt: undefined, width: undefined } as const;
const broken = view('g/broken', { card: failed });

test('a cover has the pictures of the first page, and asks for no other', async () => {
  const gallery = pages([view('g/a'), view('g/b')], [view('g/c')]);
  expect(await coverOf(gallery)).toEqual(['g/a', 'g/b']);
  expect(gallery.asked).toEqual([undefined]);
});

test('a cover follows the cursor, page after page, as long as it has nothing to show', async () => {
  const gallery = pages([], [broken], [view('g/a')], [view('g/b')]);
  expect(await coverOf(gallery)).toEqual(['g/a']);
  expect(gallery.asked).toEqual([undefined, '1', '2']);
});

test('a cover gives up after four pages, and says that there are folders', async () => {
  const gallery = pages([], [], [], [], [view('g/far')]);
  expect(await coverOf(gallery)).toBe('folders');
  expect(gallery.asked).toEqual([undefined, '1', '2', '3']);
});

test('a cover without any picture that can be shown says whether one failed', async () => {
  expect(await coverOf(pages([broken], [broken]))).toBe('failed');
  expect(await coverOf(pages([broken], [], [], [], [view('g/far')]))).toBe('failed');
});

test('the cover of an empty gallery is empty', async () => {
  const gallery = pages([]);
  expect(await coverOf(gallery)).toBe('empty');
  expect(gallery.asked).toEqual([undefined]);
});
