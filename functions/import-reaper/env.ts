import * as z from 'zod';
import { json, parseEnv } from '../../shared/runtime/env.ts';

const schema = z.object({
  IMPORTS_TABLE: z.string(),
  IMPORTS_BUCKET: z.string(),
  INTERACTIVE_QUEUE_URL: z.url(),
  BULK_QUEUE_URL: z.url(),
  JOBS_QUEUE_URL: z.url(),
  STALLED: json(
    z.strictObject({
      resends: z.int().nonnegative(),
      /** Minutes without progress. */
      quietMinutes: z.strictObject({
        interactive: z.int().positive(),
        bulk: z.int().positive(),
      }),
    }),
  ),
});

export const readEnv = () => parseEnv(schema, process.env);
