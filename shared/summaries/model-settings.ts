import * as z from 'zod';

export const providerKindSchema = z.enum(['openai', 'anthropic', 'bedrock']);

/** US dollars a million tokens: what an import is estimated and accounted with. */
export const pricesSchema = z.strictObject({
  inputUsdPerMillion: z.number().min(0).max(10_000),
  outputUsdPerMillion: z.number().min(0).max(10_000),
});

/** What is told of the model to those who do not call it. */
export const modelSettingsSchema = z.strictObject({
  kind: providerKindSchema,
  model: z.string().min(1).max(200),
  prices: pricesSchema,
});

export type ModelSettings = z.infer<typeof modelSettingsSchema>;
