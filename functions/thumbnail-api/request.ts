import { z } from 'zod';
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

/** Parses a query or a body; the error says where, what was expected and what came. */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  where: 'query' | 'body',
  input: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(input, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = [where, ...(issue?.path ?? [])].join('.');
  const came = issue?.input === undefined ? '' : `, got ${show(issue.input)}`;
  const message = (issue?.message ?? 'invalid').replace(/^Invalid input: |, received .*$/g, '');
  throw new InvalidRequestError(`${path}: ${message}${came}`);
}

/** As JSON, but for the numbers that it has no words for. */
function show(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return (text ?? String(value)).slice(0, 80);
}

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

/** A cursor is opaque to callers and parsed like anything else that comes from them. */
export function decodeCursor<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch (cause) {
    throw new InvalidRequestError(
      `query.cursor: expected the cursor of an earlier answer, got ${JSON.stringify(text.slice(0, 80))}`,
      { cause },
    );
  }
}

export function encodeCursor(value: object): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');
}
