import { createHash } from 'node:crypto';
import * as z from 'zod';

/** WebP's own limit is 16,383 pixels a side; a thumbnail has no use for a quarter of it. */
const LONGEST_SIDE = 4096;

const side = z.int().min(1).max(LONGEST_SIDE);

/** A named thumbnail size. Callers ask for it by name and never by pixels. */
export const variantSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,31}$/, 'expected 1 to 32 of a-z, 0-9 and -, starting with a letter'),
  /** Pixels, 1 to 4096. */
  width: side,
  /** Pixels, 1 to 4096. */
  height: side,
  /** `cover` fills the box and crops; `inside` keeps the whole picture. Neither enlarges pixels. */
  fit: z.enum(['cover', 'inside']),
  format: z.enum(['webp', 'jpeg', 'avif']),
  /** The encoder's quality, 1 to 100. */
  quality: z.int().min(1).max(100),
  /** `exif` turns the picture upright; `raw` leaves it as the camera stored it. */
  orientation: z.enum(['exif', 'raw']),
});

export type Variant = z.infer<typeof variantSchema>;

export const CONTENT_TYPES = {
  webp: 'image/webp',
  jpeg: 'image/jpeg',
  avif: 'image/avif',
} as const satisfies Record<Variant['format'], string>;

/**
 * Twelve characters that change when the variant would produce other bytes, so that a thumbnail
 * made under an earlier definition is made again.
 *
 * @param image a key, or the end of one: drawings were once not drawn larger than their nominal size. By
 * its name alone, as a list has nothing else; what the bytes are is seen when it is made.
 */
export function recipeOf(variant: Variant, image: string): string {
  const { width, height, fit, format, quality, orientation } = variant;
  const how = /\.svg$/i.test(image) ? ['drawn'] : [];
  const definition = JSON.stringify([width, height, fit, format, quality, orientation, ...how]);
  return createHash('sha256').update(definition).digest('hex').slice(0, 12);
}
