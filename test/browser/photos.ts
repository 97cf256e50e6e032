import sharp from 'sharp';
import { put, type Target } from '../flows/target.ts';

// Small photographs, as far as an encoder and a layout can tell: soft colours in any proportion.

/**
 * Pixels; as a camera, a phone, a square crop, a screen and a panorama have them. Just so many that
 * one of them is larger than its card: to encode them is most of what a cold gallery costs.
 */
const SIZES = [
  [300, 200],
  [200, 300],
  [300, 225],
  [240, 240],
  [225, 300],
  [320, 180],
  [600, 200],
] as const;

export function sizeOf(index: number): { width: number; height: number } {
  const [width, height] = SIZES[index % SIZES.length] ?? SIZES[0];
  return { width, height };
}

/** Another one for each number, and the same each time. @param scale makes it so much larger */
export async function photo(index: number, scale = 1): Promise<Buffer> {
  const colors = Buffer.from(
    Array.from(
      { length: 6 * 4 * 3 },
      (_, at) => (Math.imul(index * 72 + at + 1, 2654435761) >>> 16) & 255,
    ),
  );
  const { width, height } = sizeOf(index);
  return await sharp(colors, { raw: { width: 6, height: 4, channels: 3 } })
    .resize(scale * width, scale * height, { kernel: 'cubic', fit: 'fill' })
    .jpeg({ quality: 80 })
    .toBuffer();
}

/** @returns the images' keys, in the order in which a gallery shows them */
export async function putPhotos(
  target: Target,
  gallery: string,
  count: number,
  scale = 1,
): Promise<string[]> {
  const images = Array.from({ length: count }, (_, index) => `${gallery}/${1000 + index}.jpg`);
  await Promise.all(
    images.map(async (image, index) => put(target, image, await photo(index, scale))),
  );
  return images;
}
