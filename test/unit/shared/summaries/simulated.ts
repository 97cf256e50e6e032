import {
  createProvider,
  type ProviderConfig,
  providerConfigSchema,
} from '../../../../shared/summaries/create-provider.ts';
import type { Provider, SummaryRequest } from '../../../../shared/summaries/provider.ts';

export const KINDS = ['openai', 'anthropic', 'bedrock'] as const;
export type Kind = (typeof KINDS)[number];
export const KEY = 'sk-of-the-tests-0123456789abcd';

const ADDRESS = {
  openai: (url: string) => ({ baseUrl: `${url}/v1` }),
  anthropic: (url: string) => ({ baseUrl: url }),
  bedrock: (url: string) => ({ baseUrl: url, region: 'eu-west-1' }),
} satisfies Record<Kind, (url: string) => object>;

export function connect(
  kind: Kind,
  url: string,
  limits: Partial<Pick<ProviderConfig, 'callTimeoutMs' | 'connections'>> = {},
): Promise<Provider> {
  const config = providerConfigSchema.parse({
    kind,
    model: 'a-model',
    callTimeoutMs: 10_000,
    connections: 50,
    ...limits,
    ...ADDRESS[kind](url),
  });
  return createProvider(config, KEY);
}

export function ask(row: string, changes: Partial<SummaryRequest> = {}): SummaryRequest {
  return {
    system: 'Summarise.',
    input: 'A chair of oak with a seat of paper cord. It weighs four kilograms.',
    maxOutputTokens: 100,
    row,
    ...changes,
  };
}

export const never = new AbortController().signal;
