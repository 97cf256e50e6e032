import { z } from 'zod';
import { json, parseEnv } from '../../shared/runtime/env.ts';
import { promptSettingsSchema } from '../../shared/summaries/prompt-settings.ts';

const provider = {
  model: z.string(),
  baseUrl: z.url().optional(),
  /** Milliseconds for one call, from its start to the last byte of its answer. */
  callTimeoutMs: z.int().positive(),
  /** As many as the gate, or the pool would be a second, hidden gate. */
  connections: z.int().positive(),
};

const providerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('openai'),
    ...provider,
    outputLimit: z.enum(['max_completion_tokens', 'max_tokens']).optional(),
  }),
  z.strictObject({ kind: z.literal('anthropic'), ...provider }),
  z.strictObject({ kind: z.literal('bedrock'), ...provider, region: z.string() }),
]);

const schema = z.object({
  IMPORTS_TABLE: z.string(),
  IMPORTS_BUCKET: z.string(),
  /** The queue that this one reads. */
  QUEUE_URL: z.url(),
  JOBS_QUEUE_URL: z.url(),
  PROVIDER: json(providerSchema),
  /** Where the key is kept; absent where the function's own role is the key. */
  PROVIDER_KEY_PARAMETER: z.string().optional(),
  /** Calls in flight in this process. */
  GATE: z.coerce.number().int().positive(),
  PROMPT: json(promptSettingsSchema),
  MODE: z.enum(['interactive', 'bulk']),
  /** Other addresses than the providers' own, by the SDKs' own variables. Bedrock's SDK reads its by itself. */
  OPENAI_BASE_URL: z.url().optional(),
  ANTHROPIC_BASE_URL: z.url().optional(),
});

/** A configured address goes before one from the environment. */
export function readEnv() {
  const { OPENAI_BASE_URL, ANTHROPIC_BASE_URL, PROVIDER, ...env } = parseEnv(schema, process.env);
  const elsewhere = { openai: OPENAI_BASE_URL, anthropic: ANTHROPIC_BASE_URL, bedrock: undefined };
  const baseUrl = PROVIDER.baseUrl ?? elsewhere[PROVIDER.kind];
  return { ...env, PROVIDER: baseUrl === undefined ? PROVIDER : { ...PROVIDER, baseUrl } };
}
