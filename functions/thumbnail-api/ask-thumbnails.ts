import { mayReach } from '../../shared/access/prefixes.ts';
import { RETRY_AFTER } from '../../shared/thumbnails/failure.ts';
import { type ImageItem, unknownItem } from '../../shared/thumbnails/image-item.ts';
import { splitImage } from '../../shared/thumbnails/image-key.ts';
import { type ImageView, viewImage } from '../../shared/thumbnails/image-view.ts';
import { readImages } from '../../shared/thumbnails/images-table.ts';
import { NO_SUCH_ORIGINAL } from '../../shared/thumbnails/originals.ts';
import type { Variant } from '../../shared/thumbnails/variant.ts';
import type { Service } from './service.ts';
import { warmUp } from './warm-up.ts';

/**
 * The named images in the order they were named. All warm: one BatchGetItem and nothing else. What
 * is in a gallery that the caller may not see is told as what is missing, and looked for nowhere.
 */
export async function askThumbnails(
  service: Service,
  images: readonly string[],
  wanted: readonly Variant[],
): Promise<{ images: ImageView[] }> {
  const { views } = service.caller;
  const visible = images.filter((image) => mayReach(views, splitImage(image).gallery));
  const items = visible.length === 0 ? new Map() : await readImages(service.table, visible);
  const rows = [...items].map(([image, item]) => ({ image, item }));
  const warmed = await warmUp(service, rows, wanted);
  const fresh = new Map(warmed.rows.map(({ image, item }) => [image, item]));
  const now = service.now();
  const urls = await service.urls(new Date(now));
  return {
    images: images.map((image) => {
      const view = viewImage(image, fresh.get(image) ?? missing(image, now), wanted, urls, now);
      return warmed.held.has(image) ? { ...view, retryAfterMs: warmed.retryAfterMs } : view;
    }),
  };
}

function missing(image: string, now: number): ImageItem {
  return {
    ...unknownItem(splitImage(image).name),
    failure: { class: 'missing', reason: NO_SUCH_ORIGINAL, retryAt: now + RETRY_AFTER.missing },
  };
}
