import * as z from 'zod';
import type { Provider } from './provider.ts';
import { NoKeyError } from './provider-error.ts';

const common = {
  model: z.string().min(1),
  /** Milliseconds for one call, from its start to the last byte of its answer. */
  callTimeoutMs: z.int().min(100).max(900_000),
  /** At least the gate, or the pool is a second, hidden gate. */
  connections: z.int().min(1).max(10_000),
};
const baseUrl = z.url({ protocol: /^https?$/ });

export const providerConfigSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('openai'),
    ...common,
    baseUrl: baseUrl.default('https://api.openai.com/v1'),
    outputLimit: z.enum(['max_completion_tokens', 'max_tokens']).default('max_completion_tokens'),
  }),
  z.strictObject({
    kind: z.literal('anthropic'),
    ...common,
    baseUrl: baseUrl.default('https://api.anthropic.com'),
  }),
  z.strictObject({
    kind: z.literal('bedrock'),
    ...common,
    region: z.string().regex(/^[a-z]{2,}(-[a-z]+)+-\d+$/, 'Expected a region, eu-west-1'),
    baseUrl: baseUrl.optional(),
  }),
]);

export type ProviderConfig = z.infer<typeof providerConfigSchema>;

/**
 * Only the SDK that is wanted is loaded: each is some 100 ms of a cold start.
 * @param key absent for a server that wants none, and for Bedrock with the function's own role.
 * @throws NoKeyError where the provider cannot be called without.
 */
export async function createProvider(
  config: ProviderConfig,
  key: string | undefined,
): Promise<Provider> {
  switch (config.kind) {
    case 'openai': {
      const { createOpenAi } = await import('./openai.ts');
      return createOpenAi(config, key);
    }
    case 'anthropic': {
      if (key === undefined) throw new NoKeyError('There is no key to call Anthropic with.');
      const { createAnthropic } = await import('./anthropic.ts');
      return createAnthropic(config, key);
    }
    case 'bedrock': {
      const { createBedrock } = await import('./bedrock.ts');
      return createBedrock(config, key);
    }
  }
}
