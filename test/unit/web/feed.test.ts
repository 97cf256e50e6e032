import { expect, test } from 'vitest';
import { createFeed } from '../../../web/gallery/feed.ts';
import type { View } from '../../../web/glimpse-image/view.ts';
import { ApiError } from '../../../web/shell/api-error.ts';

const view = (image: string, more: Partial<View> = {}): View => ({
  image,
  width: undefined,
  height: undefined,
  variants: {},
  thumbhash: undefined,
  color: undefined,
  retryAfterMs: undefined,
  failure: undefined,
  at: 0,
  ...more,
});

function pages(...contents: string[][]) {
  const asked: (string | undefined)[] = [];
  return {
    asked,
    page: async (cursor?: string) => {
      asked.push(cursor);
      const at = cursor === undefined ? 0 : Number(cursor);
      const items = (contents[at] ?? []).map((image) => view(image));
      const next = at + 1 < contents.length ? String(at + 1) : undefined;
      return { items, cursor: next, readOnly: false };
    },
  };
}

const names = ({ state }: ReturnType<typeof createFeed>) => state.images.map(({ image }) => image);

test('pages come one after another, also empty ones, until there is no cursor', async () => {
  const { page, asked } = pages(['a', 'b'], [], ['c']);
  const feed = createFeed(page);
  for (let turn = 0; turn < 5; turn += 1) await feed.loadMore();
  expect(names(feed)).toEqual(['a', 'b', 'c']);
  expect(asked).toEqual([undefined, '1', '2']);
  expect(feed.state.more).toBe(false);
});

test('a page is asked for once however often it is wanted', async () => {
  const { page, asked } = pages(['a'], ['b']);
  const feed = createFeed(page);
  await Promise.all([feed.loadMore(), feed.loadMore(), feed.loadMore()]);
  expect(asked).toHaveLength(1);
});

test('a page that fails is told, loses nothing and can be asked for again', async () => {
  let broken = true;
  const { page } = pages(['a']);
  const feed = createFeed(async (cursor) => {
    if (broken) throw new ApiError(503, 'busy', 'Busy.');
    return await page(cursor);
  });
  await feed.loadMore();
  expect(feed.state).toMatchObject({ loading: false, more: true, error: { status: 503 } });
  broken = false;
  await feed.loadMore();
  expect(names(feed)).toEqual(['a']);
  expect(feed.state.error).toBeUndefined();
});

test('what was uploaded comes first, once, also when its page comes later', async () => {
  const { page } = pages(['a', 'b'], ['c', 'new']);
  const feed = createFeed(page);
  await feed.loadMore();
  feed.add([view('new', { width: 200, height: 100 })]);
  feed.add([view('new'), view('newer')]);
  await feed.loadMore();
  expect(names(feed)).toEqual(['newer', 'new', 'a', 'b', 'c']);
  expect(feed.state.ratios).toEqual([1.5, 2, 1.5, 1.5, 1.5]);
  expect(['newer', 'new', 'c', 'gone'].map((image) => feed.indexOf(image))).toEqual([0, 1, 4, -1]);
});

test('news of a picture change its proportions and nobody else', async () => {
  const { page } = pages(['a', 'b']);
  const feed = createFeed(page);
  await feed.loadMore();
  feed.update(view('b', { width: 100, height: 400 }));
  feed.update(view('elsewhere'));
  expect(feed.state.ratios).toEqual([1.5, 0.25]);
});

test('listeners hear of many changes in a turn once', async () => {
  const { page } = pages(['a', 'b']);
  const feed = createFeed(page);
  await feed.loadMore();
  await Promise.resolve();
  let heard = 0;
  const stop = feed.subscribe(() => {
    heard += 1;
  });
  feed.update(view('a', { width: 1, height: 1 }));
  feed.update(view('b', { width: 1, height: 1 }));
  await Promise.resolve();
  expect(heard).toBe(1);
  stop();
  feed.update(view('a', { width: 2, height: 1 }));
  await Promise.resolve();
  expect(heard).toBe(1);
});
