import { z } from 'zod';

/** How a browser reaches a thumbnail: by a signed URL, from a public bucket, or through a CDN. */
export const deliverySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('presigned'), windowSeconds: z.int().min(60).max(43_200) }),
  z.strictObject({ kind: z.literal('public') }),
  z.strictObject({ kind: z.literal('cdn'), origin: z.url() }),
]);

export type Delivery = z.infer<typeof deliverySchema>;
