import * as z from 'zod';
import { allowanceSettingsSchema } from '../../shared/fleet/allowance-settings.ts';
import { json, parseEnv } from '../../shared/runtime/env.ts';
import { providerConfigSchema } from '../../shared/summaries/create-provider.ts';
import { modelSettingsSchema } from '../../shared/summaries/model-settings.ts';
import { promptSettingsSchema } from '../../shared/summaries/prompt-settings.ts';

const schema = z.object({
  IMPORTS_TABLE: z.string(),
  IMPORTS_BUCKET: z.string(),
  /** The queue that this one reads. */
  QUEUE_URL: z.url(),
  PROVIDER: json(z.looseObject({ kind: z.enum(['openai', 'anthropic', 'bedrock']) })),
  /** Where the key is kept; absent where the function's own role is the key. */
  PROVIDER_KEY_PARAMETER: z.string().optional(),
  /** Calls in flight in this process. */
  GATE: z.coerce.number().int().positive(),
  PROMPT: json(promptSettingsSchema),
  MODEL: json(modelSettingsSchema),
  MODE: z.enum(['interactive', 'bulk']),
  FLEET_TABLE: z.string(),
  ALLOWANCE: json(allowanceSettingsSchema),
  /** Other addresses than the providers' own, by the SDKs' own variables. Bedrock's SDK reads its by itself. */
  OPENAI_BASE_URL: z.url().optional(),
  ANTHROPIC_BASE_URL: z.url().optional(),
});

/** A configured address goes before one from the environment. */
export function readEnv() {
  const { OPENAI_BASE_URL, ANTHROPIC_BASE_URL, PROVIDER, ...env } = parseEnv(schema, process.env);
  const elsewhere = { openai: OPENAI_BASE_URL, anthropic: ANTHROPIC_BASE_URL, bedrock: undefined };
  const baseUrl = elsewhere[PROVIDER.kind];
  const given = baseUrl === undefined ? PROVIDER : { baseUrl, ...PROVIDER };
  return { ...env, PROVIDER: providerConfigSchema.parse(given) };
}
