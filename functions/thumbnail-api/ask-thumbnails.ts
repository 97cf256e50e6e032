import { mayReach } from '../../shared/access/prefixes.ts';
import { unknownItem } from '../../shared/thumbnails/image-item.ts';
import { splitImage } from '../../shared/thumbnails/image-key.ts';
import { type ImageView, viewImage } from '../../shared/thumbnails/image-view.ts';
import { readImages } from '../../shared/thumbnails/images-table.ts';
import { originalExists } from '../../shared/thumbnails/originals.ts';
import type { Variant } from '../../shared/thumbnails/variant.ts';
import type { Service } from './service.ts';
import { missing, warmUp } from './warm-up.ts';

/**
 * The named images in the order they were named. All warm: one BatchGetItem and nothing else. What
 * is in a gallery that the caller may not see is told as what is missing, and looked for nowhere. An
 * image that the table has not seen costs a HEAD before its claim: names that were made up leave no row.
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
  const warmed = await warmUp(service, rows, wanted, (image) =>
    originalExists(service.originals, image),
  );
  const fresh = new Map(warmed.rows.map(({ image, item }) => [image, item]));
  const now = service.now();
  const urls = await service.urls(new Date(now));
  return {
    images: images.map((image) => {
      const item = fresh.get(image) ?? missing(unknownItem(splitImage(image).name), now);
      const view = viewImage(image, item, wanted, urls, now);
      const retryAfterMs = warmed.held.get(image);
      return retryAfterMs === undefined ? view : { ...view, retryAfterMs };
    }),
  };
}
