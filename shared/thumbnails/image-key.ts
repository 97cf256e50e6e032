import { createHash } from 'node:crypto';
import { InvalidRequestError } from '../errors.ts';
import type { Variant } from './variant.ts';

/** S3's own limit, for originals and thumbnails alike. */
const LONGEST_KEY = 1024;

export interface ImagePlace {
  gallery: string;
  name: string;
}

/** Refuses what can never be an image's key, in the caller's words; anything else is taken literally. */
export function parseImageKey(image: string): string {
  const refuse = (expected: string) =>
    new InvalidRequestError(
      `image: expected ${expected}, got ${JSON.stringify(image.slice(0, 80))}`,
    );
  if (image === '') throw refuse('the key of an object in the originals bucket');
  if (!image.isWellFormed()) throw refuse('well-formed Unicode');
  if (byteLength(image) > LONGEST_KEY) throw refuse(`at most ${LONGEST_KEY} bytes of UTF-8`);
  if (image.endsWith('/')) throw refuse('an image, not a folder');
  return image;
}

/**
 * Splits a key at its last slash, so that `joinImage` gives it back byte for byte.
 *
 * A gallery is the folder without its slash: `a/b` for `a/b/c.jpg`, `a/` for `a//c.jpg`, and the
 * empty string for an image in no folder. The folders that consist of slashes keep them all, or
 * `/c.jpg` would share the empty gallery with `c.jpg`.
 */
export function splitImage(image: string): ImagePlace {
  const cut = image.lastIndexOf('/') + 1;
  const prefix = image.slice(0, cut);
  return {
    gallery: /^\/*$/.test(prefix) ? prefix : prefix.slice(0, -1),
    name: image.slice(cut),
  };
}

export function joinImage({ gallery, name }: ImagePlace): string {
  return galleryPrefix(gallery) + name;
}

/** What all keys of a gallery start with. */
export function galleryPrefix(gallery: string): string {
  return /^\/*$/.test(gallery) ? gallery : `${gallery}/`;
}

/** ETag (32 hexadecimal digits and a part count), variant (32), extension and slashes. */
const LONGEST_TAIL = 1 + 38 + 1 + 32 + 5;

const HASHED = /^~\/[0-9a-f]{64}$/;

/**
 * What an image's thumbnails are rooted at: the image's key, or `~/` and the key's SHA-256 where
 * the key itself cannot serve. That is where it leaves no room for the rest, where it has a `.` or
 * `..` segment, which browsers resolve before they ask (escaped or not), and where it looks like
 * such a hash.
 */
export function thumbnailRoot(image: string): string {
  const serves =
    byteLength(image) + LONGEST_TAIL <= LONGEST_KEY &&
    !image.split('/').some((segment) => segment === '.' || segment === '..') &&
    !HASHED.test(image);
  return serves ? image : `~/${createHash('sha256').update(image).digest('hex')}`;
}

/** `<image>/<etag>/<variant>.webp`: another source is another key, so each is cached for ever. */
export function thumbnailKey(
  image: string,
  etag: string,
  variant: Pick<Variant, 'name' | 'format'>,
): string {
  return `${thumbnailRoot(image)}/${etag}/${variant.name}.${variant.format}`;
}

/**
 * Whether a key below an image's root is one of its thumbnails. The image `a/b` shares its root's
 * prefix with every image in the folder `a/b/`, whose thumbnails lie a segment deeper.
 */
export function isThumbnailOf(image: string, key: string): boolean {
  const root = thumbnailRoot(image);
  if (!key.startsWith(root)) return false;
  const tail = key.slice(root.length);
  return /^\/[0-9a-f]{32}(-\d{1,5})?\/[a-z][a-z0-9-]{0,31}\.(webp|jpeg|avif)$/.test(tail);
}

/** S3 and DynamoDB sort by UTF-8's bytes; JavaScript's own order is that of UTF-16's units. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
