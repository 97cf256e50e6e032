import sharp from 'sharp';
import { put, type Target } from '../flows/target.ts';

// Small photographs, as far as an encoder and a layout can tell: soft colours in any proportion.

/** Pixels; as a camera, a phone, a square crop, a screen and a panorama have them. */
const SIZES = [
  [800, 533],
  [533, 800],
  [800, 600],
  [640, 640],
  [600, 800],
  [960, 540],
  [1200, 400],
] as const;

export function sizeOf(index: number): { width: number; height: number } {
  const [width, height] = SIZES[index % SIZES.length] ?? SIZES[0];
  return { width, height };
}

/** Another one for each number, and the same each time. */
export async function photo(index: number): Promise<Buffer> {
  const colors = Buffer.from(
    Array.from(
      { length: 6 * 4 * 3 },
      (_, at) => (Math.imul(index * 72 + at + 1, 2654435761) >>> 16) & 255,
    ),
  );
  const { width, height } = sizeOf(index);
  return await sharp(colors, { raw: { width: 6, height: 4, channels: 3 } })
    .resize(width, height, { kernel: 'cubic', fit: 'fill' })
    .jpeg({ quality: 80 })
    .toBuffer();
}

/** @returns the images' keys, in the order in which a gallery shows them */
export async function putPhotos(target: Target, gallery: string, count: number): Promise<string[]> {
  const images = Array.from({ length: count }, (_, index) => `${gallery}/${1000 + index}.jpg`);
  await Promise.all(images.map(async (image, index) => put(target, image, await photo(index))));
  return images;
}
