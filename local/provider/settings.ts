import { z } from 'zod';

// What the simulator can be told, by its callers in this process, over IPC and over HTTP.

export const accountSchema = z.strictObject({
  requestsPerMinute: z.int().min(1).max(10_000_000),
  tokensPerMinute: z.int().min(1).max(10_000_000_000),
  /** What an idle account lets through at once: so many seconds' worth. Providers' documents say 60. */
  burstSeconds: z.number().min(0.1).max(60).default(60),
  /** Whether answers tell what remains. Not all providers do. */
  headers: z.boolean().default(true),
});

export const latencySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('fixed'), ms: z.number().min(0).max(600_000) }),
  z.strictObject({
    kind: z.literal('log-normal'),
    /** The arithmetic mean, so that calls a minute follow from it. */
    meanMs: z.number().min(1).max(600_000),
    /** Of the logarithm: 0 always takes the mean, 0.3 is a model on a quiet day, 1 a bad one. */
    sigma: z.number().min(0).max(3),
  }),
]);

/** Refused before any work is done for the call. */
export const REFUSALS = [
  'rate-requests',
  'rate-tokens',
  /** The quota is spent: OpenAI's `insufficient_quota`, Anthropic's spend cap. */
  'quota',
  'model-not-ready',
  'bad-request',
  'key-refused',
  'forbidden',
  'model-not-found',
  'conflict',
  'too-large',
  'unprocessable',
] as const;

/** Errors in the place of an answer, after the time of one. */
export const FAILURES = [
  'timeout',
  'model-error',
  'server-error',
  'bad-gateway',
  'unavailable',
  'overloaded',
] as const;

/** No answer, or not the whole of one. */
const BREAKS = ['hang', 'reset', 'reset-midway', 'not-json'] as const;

/** Answers that are no summary. */
export const ENDINGS = ['truncated', 'truncated-null', 'refusal', 'filtered', 'empty'] as const;

export const faultSchema = z.strictObject({
  fault: z.enum([...REFUSALS, ...FAILURES, ...BREAKS, ...ENDINGS]),
  /** Only calls for this row. */
  row: z.string().optional(),
  /** Only a row's n-th call, from 1. */
  attempt: z.int().min(1).optional(),
  /** Only the n-th call of all since the ledger was cleared, from 1. */
  call: z.int().min(1).optional(),
  /** In so many of the calls that the rest lets through. */
  probability: z.number().min(0).max(1).default(1),
});

const settingsSchema = z.strictObject({
  /** Null for one without limits, which shows no headers. */
  account: accountSchema.nullable().default({
    requestsPerMinute: 20_000,
    tokensPerMinute: 20_000_000,
    burstSeconds: 60,
    headers: true,
  }),
  /** By key: callers who spend another than all the others do. */
  accounts: z.record(z.string(), accountSchema).default({}),
  latency: latencySchema.default({ kind: 'log-normal', meanMs: 800, sigma: 0.35 }),
  /** The first that fits a call befalls it. */
  faults: z.array(faultSchema).max(10_000).default([]),
});

/** What is absent stays as it is. New accounts begin full. */
export const changesSchema = z.strictObject({
  account: accountSchema.nullable().optional(),
  accounts: z.record(z.string(), accountSchema).optional(),
  latency: latencySchema.optional(),
  faults: z.array(faultSchema).max(10_000).optional(),
});

export const optionsSchema = z.strictObject({
  ...settingsSchema.shape,
  /** 0 for any. */
  port: z.int().min(0).max(65_535).default(0),
  seed: z.int().default(1),
  /** Older calls are dropped; the sums go on counting them. */
  maxLedger: z.int().min(1).max(2_000_000).default(200_000),
});

export type AccountSettings = z.infer<typeof accountSchema>;
export type Latency = z.infer<typeof latencySchema>;
export type FaultRule = z.infer<typeof faultSchema>;
export type FaultName = FaultRule['fault'];
export type Refusal = (typeof REFUSALS)[number] | (typeof FAILURES)[number];
export type Ending = (typeof ENDINGS)[number];
export type Options = z.infer<typeof optionsSchema>;
export type OptionsInput = z.input<typeof optionsSchema>;
export type ChangesInput = z.input<typeof changesSchema>;
