import * as z from 'zod';
import { allowanceSettingsSchema } from './allowance-settings.ts';

const { requestsPerMinute, tokensPerMinute, interactiveShare, reserve } =
  allowanceSettingsSchema.shape;

/** What a provider's account lets through: its limits page says so, or the headers of its answers. */
export const accountSchema = z.strictObject({
  requestsPerMinute,
  /** Input and output together; null for an account that counts none. */
  tokensPerMinute,
});

/** What calls are like on average. */
export const measuredSchema = z.strictObject({
  /** From a call's start to the last byte of its answer. */
  serviceSeconds: z.number().min(0.01).max(300),
  /** What a call counts for: its input and its answer. */
  tokensPerCall: z.number().min(1).max(1_000_000),
});

/** The plan's own inputs, as a configuration states them. */
export const fleetSettings = {
  account: accountSchema,
  measured: measuredSchema,
  /** Calls in flight, of those that would do if all took as long as on average. */
  headroom: z.number().min(1).max(10),
  /** Of the account, for work that somebody watches. */
  interactiveShare,
  /** Of the provider's own limit: bulk work gives way when less remains. */
  reserve,
};

/** Of one mode. */
export const modeSettings = {
  /** Chunks that one invocation takes. */
  batchChunks: z.int().min(1).max(10),
  /** Workers at once, in the place of the plan's number. A mapping takes 2 to 1,000. */
  concurrency: z.int().min(2).max(1000).optional(),
  /** Calls in flight in one worker, in the place of the plan's number. */
  gate: z.int().min(1).max(1000).optional(),
};

const modeInputSchema = z.strictObject({
  ...modeSettings,
  /** Where this mode spends an account of its own. */
  own: z.strictObject({ account: accountSchema, measured: measuredSchema }).optional(),
});

/** All that the plan follows from. */
export const planInputSchema = z.strictObject({
  ...fleetSettings,
  callTimeoutSeconds: z.int().min(1).max(300),
  chunkRows: z.int().min(1).max(1000),
  workerTimeoutSeconds: z.int().min(10).max(900),
  /** Tokens of the longest input with the longest answer. */
  largestCallTokens: z.int().min(1).max(10_000_000),
  /** Executions at once that AWS grants in this region to all functions together. */
  accountConcurrency: z.int().min(10).max(1_000_000),
  /** How many of them the stack's other functions take at most. */
  othersConcurrency: z.int().min(0).max(1_000_000),
  /** Whether functions reserve theirs. */
  reserved: z.boolean(),
  interactive: modeInputSchema,
  bulk: modeInputSchema,
});

export type Account = z.infer<typeof accountSchema>;
export type Measured = z.infer<typeof measuredSchema>;
export type PlanInput = z.infer<typeof planInputSchema>;
