import type { View } from '../../glimpse-image/view.ts';
import type { Page } from '../../shell/page.ts';

/** Pages looked through at most: those of subfolders that sort before a gallery's own pictures are empty. */
const MOST_PAGES = 4;

/** The first pictures that can be shown, or why there are none: `folders` are all that is near. */
export type Cover = readonly View[] | 'failed' | 'folders' | 'empty';

/** A gallery's first pictures that can be shown, from the first page that has any. */
export async function loadCover(
  page: (cursor?: string) => Promise<Page<View>>,
  variant: string,
): Promise<Cover> {
  let cursor: string | undefined;
  let failed = false;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const { items, cursor: next } = await page(cursor);
    const showable = items.filter(({ variants }) => variants[variant]?.state !== 'failed');
    if (showable.length > 0) return showable;
    failed ||= items.length > 0;
    if (next === undefined) return failed ? 'failed' : 'empty';
    cursor = next;
  }
  return failed ? 'failed' : 'folders';
}
