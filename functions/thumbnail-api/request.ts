import * as z from 'zod';
import { InvalidRequestError } from '../../shared/errors.ts';
import { UPLOAD_TYPES } from '../../shared/thumbnails/upload-types.ts';
import type { Variant } from '../../shared/thumbnails/variant.ts';

// What the routes take. Anything else is the caller's mistake, told in one sentence.

const image = z.string();

/** Text that can be a key, or a part or a position of one. */
export const keyText = z
  .string()
  .refine((text) => text.isWellFormed(), 'expected well-formed Unicode')
  .refine((text) => Buffer.byteLength(text) <= 1024, 'expected at most 1024 bytes of UTF-8');
const cursor = z.string().max(8192);

export const galleriesQuery = z.strictObject({ cursor: cursor.optional() });

export const imagesQuery = z.strictObject({
  gallery: keyText,
  variant: z.string(),
  limit: z
    .string()
    .regex(/^([1-9]\d?|100)$/, 'expected a whole number from 1 to 100')
    .transform(Number)
    .default(80),
  cursor: cursor.optional(),
});

export const thumbnailQuery = z.strictObject({ image, variant: z.string() });

export const thumbnailsBody = z.strictObject({
  images: z.array(image).min(1).max(100),
  variants: z.array(z.string()).min(1).max(10),
});

export const uploadBody = z.strictObject({
  image,
  contentType: z.enum(UPLOAD_TYPES),
  bytes: z.int().min(1),
});

/** Callers name variants; the error names those that there are. */
export function chooseVariant(name: string, variants: readonly Variant[]): Variant {
  const variant = variants.find((candidate) => candidate.name === name);
  if (variant !== undefined) return variant;
  const known = variants.map((candidate) => candidate.name).join(', ');
  throw new InvalidRequestError(
    `variant: expected one of ${known}, got ${JSON.stringify(name.slice(0, 80))}`,
  );
}

export function chooseVariants(names: readonly string[], variants: readonly Variant[]): Variant[] {
  return [...new Set(names)].map((name) => chooseVariant(name, variants));
}
