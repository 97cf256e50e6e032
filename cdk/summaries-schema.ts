import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  accountSchema,
  fleetSettings,
  measuredSchema,
  modeSettings,
} from '../shared/fleet/plan-input.ts';
import {
  chunkRowsSchema,
  fileLimitsSchema,
  retentionSchema,
} from '../shared/imports/import-limits.ts';
import { pricesSchema, providerKindSchema } from '../shared/summaries/model-settings.ts';
import { promptSettingsSchema } from '../shared/summaries/prompt-settings.ts';

const parameterName = z
  .string()
  .max(1011)
  .regex(
    /^(\/[\w.-]+)+$/,
    // Without what came instead: that may well be the key.
    "expected the name of an SSM parameter such as '/glimpse/provider-key', got something else",
  );

const modelId = z
  .string()
  .regex(/^[\w.:/@-]{1,200}$/, "expected a model's id, such as 'gpt-4.1-mini'")
  .refine((model) => !model.startsWith('arn:'), "expected a model's id, not an ARN");

const address = z.url({ protocol: /^https?$/ });

const region = z
  .string()
  .regex(/^[a-z]{2,}(-[a-z]+)+-\d$/, "expected a region, such as 'eu-west-1'");

const providerSchema = z.strictObject({
  kind: providerKindSchema,
  /** The provider's own id of the model; on Bedrock, that of an inference profile too. */
  model: modelId,
  /** Of a compatible server, or of a proxy; absent for the provider's own. */
  baseUrl: address.optional(),
  /** The parameter by which the number of output tokens is bounded; many compatible servers know only the second. */
  outputLimit: z.enum(['max_completion_tokens', 'max_tokens']).optional(),
  /** Bedrock's; absent for the stack's own. */
  region: region.optional(),
  /** The SecureString in Parameter Store that holds the key. */
  keyParameter: parameterName.optional(),
});

/** An account that one mode spends alone: what leads to it, and what it lets through. */
const ownProviderSchema = z.strictObject({
  keyParameter: parameterName.optional(),
  /** The same model by another name: prices are those of the block. */
  model: modelId.optional(),
  baseUrl: address.optional(),
  region: region.optional(),
  account: accountSchema,
  /** Absent where calls are like those of the other account. */
  measured: measuredSchema.optional(),
});

const mode = z.strictObject({ ...modeSettings, provider: ownProviderSchema.optional() });

type ProviderSettings = z.output<typeof providerSchema>;

/** What a mode calls. */
export function providerOf(
  shared: ProviderSettings,
  { provider }: z.output<typeof mode>,
): ProviderSettings {
  if (provider === undefined) return shared;
  const { account: _, measured: __, model = shared.model, ...own } = provider;
  return { ...shared, ...own, model };
}

export const summariesSchema = z
  .strictObject({
    provider: providerSchema,
    prices: pricesSchema,
    prompt: promptSettingsSchema,
    /** From a call's start to the last byte of its answer. */
    callTimeoutSeconds: z.int().min(1).max(300),
    chunkRows: chunkRowsSchema,
    ...fleetSettings,
    /** Where somebody watches the rows appear. */
    interactive: mode,
    /** Where nobody does. */
    bulk: mode,
    limits: fileLimitsSchema,
    retention: retentionSchema,
    stalled: z.strictObject({
      /** How often a chunk that makes no progress is sent again before its rows are failed. */
      resends: z.int().min(0).max(20),
      /** Minutes without progress after which an import counts as stalled. */
      quietMinutes: z.strictObject({
        interactive: z.int().min(1).max(1440),
        bulk: z.int().min(1).max(1440),
      }),
    }),
    workerTimeoutSeconds: z.int().min(10).max(900),
    memoryMb: z.strictObject({
      /** 1,769 MB is one vCPU: reading a file is the processor's work. */
      intake: z.int().min(512).max(10_240),
      /** It waits on the network; below 256 its bundle has no room. */
      worker: z.int().min(256).max(10_240),
    }),
  })
  .superRefine((summaries, context) => {
    const refuse = (path: string[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    const { provider, interactive, bulk } = summaries;
    const { kind } = provider;

    if (kind !== 'bedrock' && provider.keyParameter === undefined) {
      refuse(
        ['provider', 'keyParameter'],
        `expected the name of the SSM parameter that holds the key of '${kind}'`,
      );
    }
    if (kind !== 'openai' && provider.outputLimit !== undefined) {
      refuse(['provider', 'outputLimit'], `expected none with '${kind}': it is OpenAI's`);
    }
    for (const [path, called] of [
      [['provider'], provider],
      [['interactive', 'provider'], interactive.provider],
      [['bulk', 'provider'], bulk.provider],
    ] as const) {
      if (kind === 'bedrock' && called?.keyParameter !== undefined) {
        refuse(
          [...path, 'keyParameter'],
          "expected none with 'bedrock', which takes the function's own role, got one",
        );
      }
      if (kind !== 'bedrock' && called?.region !== undefined) {
        refuse([...path, 'region'], `expected none with '${kind}': only Bedrock has one`);
      }
    }
    if (interactive.provider === undefined && bulk.provider === undefined) return;
    if (isDeepStrictEqual(providerOf(provider, interactive), providerOf(provider, bulk))) {
      refuse(
        [interactive.provider === undefined ? 'bulk' : 'interactive', 'provider'],
        'expected another keyParameter, model, baseUrl or region than that of the other mode, as an account of its own has, got the same',
      );
    }
  });
