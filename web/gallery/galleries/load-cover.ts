import type { View } from '../../glimpse-image/view.ts';
import type { Page } from '../../shell/page.ts';

/** Pages looked through at most: those of subfolders that sort before a gallery's own pictures are empty. */
const MOST_PAGES = 4;

/** A gallery's first pictures that can be shown, from the first page that has any; none if none is near. */
export async function loadCover(
  page: (cursor?: string) => Promise<Page<View>>,
  variant: string,
): Promise<readonly View[]> {
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const { items, cursor: next } = await page(cursor);
    const showable = items.filter(({ variants }) => variants[variant]?.state !== 'failed');
    if (showable.length > 0 || next === undefined) return showable;
    cursor = next;
  }
  return [];
}
