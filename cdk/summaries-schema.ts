import { z } from 'zod';
import {
  chunkRowsSchema,
  fileLimitsSchema,
  retentionSchema,
} from '../shared/imports/import-limits.ts';
import { pricesSchema, providerKindSchema } from '../shared/summaries/model-settings.ts';
import { promptSettingsSchema } from '../shared/summaries/prompt-settings.ts';

/** Seconds that one call may take on average when the sizes below are checked against the clock. */
const CALL_SECONDS = 2;

const fleet = z.strictObject({
  /** Workers at once. The mapping takes 2 to 1,000; it is the ceiling that no backlog lifts. */
  concurrency: z.int().min(2).max(1000),
  /** Calls in flight in one worker; its connections are as many. */
  gate: z.int().min(1).max(1000),
  /** Chunks that one invocation takes. */
  batchChunks: z.int().min(1).max(10),
});

const parameterName = z
  .string()
  .max(1011)
  .regex(
    /^(\/[\w.-]+)+$/,
    // Without what came instead: that may well be the key.
    "expected the name of an SSM parameter such as '/glimpse/provider-key', got something else",
  );

export const summariesSchema = z
  .strictObject({
    provider: z.strictObject({
      kind: providerKindSchema,
      /** The provider's own id of the model; on Bedrock, that of an inference profile too. */
      model: z
        .string()
        .regex(/^[\w.:/@-]{1,200}$/, "expected a model's id, such as 'gpt-4.1-mini'")
        .refine((model) => !model.startsWith('arn:'), "expected a model's id, not an ARN"),
      /** Of a compatible server, or of a proxy; absent for the provider's own. */
      baseUrl: z.url({ protocol: /^https?$/ }).optional(),
      /** The parameter by which the number of output tokens is bounded; many compatible servers know only the second. */
      outputLimit: z.enum(['max_completion_tokens', 'max_tokens']).optional(),
      /** Bedrock's; absent for the stack's own. */
      region: z
        .string()
        .regex(/^[a-z]{2,}(-[a-z]+)+-\d$/, "expected a region, such as 'eu-west-1'")
        .optional(),
      /** The SecureString in Parameter Store that holds the key. */
      keyParameter: parameterName.optional(),
    }),
    prices: pricesSchema,
    prompt: promptSettingsSchema,
    /** From a call's start to the last byte of its answer. */
    callTimeoutSeconds: z.int().min(1).max(300),
    chunkRows: chunkRowsSchema,
    /** Where somebody watches the rows appear. */
    interactive: fleet,
    /** Where nobody does. */
    bulk: fleet,
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
    const { provider, callTimeoutSeconds, chunkRows, workerTimeoutSeconds } = summaries;
    const isBedrock = provider.kind === 'bedrock';

    if (isBedrock && provider.keyParameter !== undefined) {
      refuse(
        ['provider', 'keyParameter'],
        "expected none with 'bedrock', which takes the function's own role, got one",
      );
    }
    if (!isBedrock && provider.keyParameter === undefined) {
      refuse(
        ['provider', 'keyParameter'],
        `expected the name of the SSM parameter that holds the key of '${provider.kind}'`,
      );
    }
    if (!isBedrock && provider.region !== undefined) {
      refuse(['provider', 'region'], `expected none with '${provider.kind}': only Bedrock has one`);
    }
    if (provider.kind !== 'openai' && provider.outputLimit !== undefined) {
      refuse(['provider', 'outputLimit'], `expected none with '${provider.kind}': it is OpenAI's`);
    }
    if (callTimeoutSeconds * 2 > workerTimeoutSeconds) {
      refuse(
        ['callTimeoutSeconds'],
        `expected at most half of workerTimeoutSeconds (${workerTimeoutSeconds}), so that a slow call can end and be made once more`,
      );
    }
    for (const mode of ['interactive', 'bulk'] as const) {
      const { gate, batchChunks } = summaries[mode];
      const seconds = Math.ceil(((batchChunks * chunkRows) / gate) * CALL_SECONDS);
      if (seconds * 2 > workerTimeoutSeconds) {
        refuse(
          [mode, 'batchChunks'],
          `expected a batch that ends within half of workerTimeoutSeconds (${workerTimeoutSeconds}), got ${batchChunks} × ${chunkRows} rows through a gate of ${gate}, which take ${seconds} s at ${CALL_SECONDS} s a call`,
        );
      }
    }
  });
