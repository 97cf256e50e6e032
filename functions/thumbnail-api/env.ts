import * as z from 'zod';
import { boundsSchema } from '../../shared/access/bounds.ts';
import { authenticationKind } from '../../shared/access/caller.ts';
import { json, parseEnv } from '../../shared/runtime/env.ts';
import { deliverySchema } from '../../shared/thumbnails/delivery.ts';
import { variantSchema } from '../../shared/thumbnails/variant.ts';

const schema = z.object({
  IMAGES_TABLE: z.string(),
  ORIGINALS_BUCKET: z.string(),
  THUMBNAILS_BUCKET: z.string(),
  ON_DEMAND_QUEUE_URL: z.url(),
  VARIANTS: json(z.array(variantSchema).min(1)),
  MAX_BYTES: z.coerce.number().int().positive(),
  AUTHENTICATION: authenticationKind,
  BOUNDS: json(boundsSchema),
  DELIVERY: json(deliverySchema),
  /** Set by Lambda. */
  AWS_REGION: z.string(),
  /** Another S3 than AWS's, by the SDK's own variable. */
  AWS_ENDPOINT_URL_S3: z.url().optional(),
});

export const readEnv = () => parseEnv(schema, process.env);
