import { unknownItem } from '../../shared/thumbnails/image-item.ts';
import { splitImage } from '../../shared/thumbnails/image-key.ts';
import { type ImageView, viewImage } from '../../shared/thumbnails/image-view.ts';
import { readImages } from '../../shared/thumbnails/images-table.ts';
import type { Variant } from '../../shared/thumbnails/variant.ts';
import type { Service } from './service.ts';
import { warmUp } from './warm-up.ts';

/** The named images in the order they were named. All warm: one BatchGetItem and nothing else. */
export async function askThumbnails(
  service: Service,
  images: readonly string[],
  wanted: readonly Variant[],
): Promise<{ images: ImageView[] }> {
  const items = await readImages(service.table, images);
  const rows = [...items].map(([image, item]) => ({ image, item }));
  const warmed = await warmUp(service, rows, wanted);
  const fresh = new Map(warmed.rows.map(({ image, item }) => [image, item]));
  const now = service.now();
  const urls = await service.urls(new Date(now));
  return {
    images: images.map((image) =>
      viewImage(image, fresh.get(image) ?? unknownItem(splitImage(image).name), wanted, urls, now),
    ),
  };
}
