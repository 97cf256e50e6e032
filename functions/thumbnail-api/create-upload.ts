import { mayReach } from '../../shared/access/prefixes.ts';
import { ConflictError, ForbiddenError, UploadTooLargeError } from '../../shared/errors.ts';
import { splitImage } from '../../shared/thumbnails/image-key.ts';
import { originalExists } from '../../shared/thumbnails/originals.ts';
import type { Service } from './service.ts';

export interface UploadRequest {
  image: string;
  contentType: string;
  bytes: number;
}

/**
 * A form that uploads one file of this key, type and size, and no other. It is only signed for a key
 * that is free; S3 has no condition for that in a form, so until it expires a form stays good for a
 * key that was taken meanwhile.
 */
export async function createUpload(
  { caller, originals, uploads, now }: Service,
  { image, contentType, bytes }: UploadRequest,
): Promise<{ url: string; fields: Readonly<Record<string, string>>; expiresAt: string }> {
  // Before anything is looked at: the answer tells nothing of what there is.
  if (!mayReach(caller.uploads, splitImage(image).gallery)) {
    throw new ForbiddenError(
      `image: expected a key in a gallery that you may upload to, got ${JSON.stringify(image.slice(0, 80))}`,
    );
  }
  if (bytes > uploads.maxBytes) {
    throw new UploadTooLargeError(
      `body.bytes: expected at most ${uploads.maxBytes} bytes, got ${bytes}`,
    );
  }
  if (await originalExists(originals, image)) {
    throw new ConflictError(`image: expected a key that is free, got ${JSON.stringify(image)}`);
  }
  const form = uploads.sign(
    await uploads.credentials(),
    { key: image, contentType, bytes },
    new Date(now()),
  );
  return { url: form.url, fields: form.fields, expiresAt: form.expiresAt.toISOString() };
}
