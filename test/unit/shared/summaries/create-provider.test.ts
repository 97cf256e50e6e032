import { expect, test } from 'vitest';
import {
  createProvider,
  providerConfigSchema,
} from '../../../../shared/summaries/create-provider.ts';
import { NoKeyError } from '../../../../shared/summaries/provider-error.ts';

const common = { model: 'm', callTimeoutMs: 10_000, connections: 10 };

test('what is left out has the address of the provider', () => {
  expect(providerConfigSchema.parse({ kind: 'openai', ...common })).toEqual({
    kind: 'openai',
    ...common,
    baseUrl: 'https://api.openai.com/v1',
    outputLimit: 'max_completion_tokens',
  });
  expect(providerConfigSchema.parse({ kind: 'anthropic', ...common })).toMatchObject({
    baseUrl: 'https://api.anthropic.com',
  });
});

test.each([
  { kind: 'cohere', ...common },
  { kind: 'openai', ...common, temperature: 1 },
  { kind: 'openai', ...common, baseUrl: 'ftp://x' },
  { kind: 'openai', ...common, connections: 0 },
  { kind: 'openai', ...common, callTimeoutMs: 5 },
  { kind: 'openai', ...common, model: '' },
  { kind: 'bedrock', ...common },
  { kind: 'bedrock', ...common, region: 'Frankfurt' },
])('%j is refused', (config) => {
  expect(providerConfigSchema.safeParse(config).success).toBe(false);
});

test('without a key there is no Anthropic, and the environment is not asked for one', async () => {
  const config = providerConfigSchema.parse({ kind: 'anthropic', ...common });
  await expect(createProvider(config, undefined)).rejects.toBeInstanceOf(NoKeyError);
});
