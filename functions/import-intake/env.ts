import * as z from 'zod';
import { importLimitsSchema } from '../../shared/imports/import-limits.ts';
import { json, parseEnv } from '../../shared/runtime/env.ts';
import { modelSettingsSchema } from '../../shared/summaries/model-settings.ts';
import { promptSettingsSchema } from '../../shared/summaries/prompt-settings.ts';

const schema = z.object({
  IMPORTS_TABLE: z.string(),
  IMPORTS_BUCKET: z.string(),
  /** Its own: a job that is to come back sooner or later than the queue would bring it. */
  JOBS_QUEUE_URL: z.url(),
  INTERACTIVE_QUEUE_URL: z.url(),
  BULK_QUEUE_URL: z.url(),
  LIMITS: json(importLimitsSchema),
  MODEL: json(modelSettingsSchema),
  PROMPT: json(promptSettingsSchema),
});

export const readEnv = () => parseEnv(schema, process.env);
