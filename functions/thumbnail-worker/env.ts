import * as z from 'zod';
import { json, parseEnv } from '../../shared/runtime/env.ts';
import { variantSchema } from '../../shared/thumbnails/variant.ts';

const schema = z.object({
  IMAGES_TABLE: z.string(),
  ORIGINALS_BUCKET: z.string(),
  THUMBNAILS_BUCKET: z.string(),
  ON_DEMAND_QUEUE_URL: z.url(),
  EAGER_QUEUE_URL: z.url(),
  VARIANTS: json(z.array(variantSchema).min(1)),
  MAX_BYTES: z.coerce.number().int().positive(),
  /** Set by Lambda. */
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: z.coerce.number().int().positive(),
});

export const readEnv = () => parseEnv(schema, process.env);
