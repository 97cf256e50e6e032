import * as z from 'zod';
import { bucketAddress, encodeKey, type SigningPlace } from '../signing/bucket-address.ts';
import { createUrlSigner, type SignedUrl } from '../signing/sign-url.ts';
import type { Credentials } from '../signing/signing-key.ts';

/** How a browser reaches a thumbnail: by a signed URL, from a public bucket, or through a CDN. */
export const deliverySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('presigned'), windowSeconds: z.int().min(60).max(43_200) }),
  z.strictObject({ kind: z.literal('public') }),
  z.strictObject({ kind: z.literal('cdn'), origin: z.url() }),
]);

export type Delivery = z.infer<typeof deliverySchema>;

export interface ThumbnailUrl {
  url: string;
  /** Only signed URLs expire. */
  expiresAt?: Date;
}

/** Gives a thumbnail's direct URL at one moment. */
export type Urls = (key: string) => ThumbnailUrl;

/** Opens the URLs of a moment: the credentials are asked for once a request, not once a URL. */
export function createUrls(
  delivery: Delivery,
  place: SigningPlace,
  credentials: () => Promise<Credentials>,
): (now: Date) => Promise<Urls> {
  switch (delivery.kind) {
    case 'presigned': {
      const sign = createUrlSigner(place, delivery.windowSeconds);
      return async (now) => {
        const current = await credentials();
        return (key): SignedUrl => sign(current, key, now);
      };
    }
    case 'public': {
      const { origin, path } = bucketAddress(place);
      return async () => (key) => ({ url: `${origin}${path}/${encodeKey(key)}` });
    }
    case 'cdn':
      return async () => (key) => ({ url: `${delivery.origin}/${encodeKey(key)}` });
  }
}
