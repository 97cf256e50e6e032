import * as z from 'zod';
import { boundsSchema } from '../../shared/access/bounds.ts';
import { authenticationKind } from '../../shared/access/caller.ts';
import { planInputSchema } from '../../shared/fleet/plan-input.ts';
import { importLimitsSchema } from '../../shared/imports/import-limits.ts';
import { json, parseEnv } from '../../shared/runtime/env.ts';
import { modelSettingsSchema } from '../../shared/summaries/model-settings.ts';
import { promptSettingsSchema } from '../../shared/summaries/prompt-settings.ts';

const schema = z.object({
  IMPORTS_TABLE: z.string(),
  IMPORTS_BUCKET: z.string(),
  JOBS_QUEUE_URL: z.url(),
  FLEET_TABLE: z.string(),
  /** What the fleet's plan follows from. */
  PLAN: json(planInputSchema),
  INTERACTIVE_QUEUE_URL: z.url(),
  BULK_QUEUE_URL: z.url(),
  AUTHENTICATION: authenticationKind,
  BOUNDS: json(boundsSchema),
  LIMITS: json(importLimitsSchema),
  MODEL: json(modelSettingsSchema),
  PROMPT: json(promptSettingsSchema),
  /** Set by Lambda. */
  AWS_REGION: z.string(),
  /** Another S3 than AWS's, by the SDK's own variable. */
  AWS_ENDPOINT_URL_S3: z.url().optional(),
});

export const readEnv = () => parseEnv(schema, process.env);
