import * as z from 'zod';

// An import as the table holds it.

export const IMPORT_STATES = [
  'awaiting-upload',
  'reading',
  'running',
  'paused',
  'completed',
  'completed-with-failures',
  'failed',
  'cancelled',
] as const;

export type ImportState = (typeof IMPORT_STATES)[number];

/** Nothing more happens to these by itself. */
export const isOver = (state: ImportState): boolean =>
  state === 'completed' ||
  state === 'completed-with-failures' ||
  state === 'failed' ||
  state === 'cancelled';

export const MODES = ['interactive', 'bulk'] as const;

export type Mode = (typeof MODES)[number];

/** What some rows came to: absolute numbers, so that writing them twice changes nothing. */
export const talliesSchema = z.object({
  done: z.number(),
  failed: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** Milliseconds that rows waited, by what for. */
  gateMs: z.number(),
  allowanceMs: z.number(),
  yieldMs: z.number(),
  refusedMs: z.number(),
});

export type Tallies = z.infer<typeof talliesSchema>;

export const NO_TALLIES: Tallies = {
  done: 0,
  failed: 0,
  inputTokens: 0,
  outputTokens: 0,
  gateMs: 0,
  allowanceMs: 0,
  yieldMs: 0,
  refusedMs: 0,
};

export function sum(tallies: Iterable<Tallies>): Tallies {
  const total = { ...NO_TALLIES };
  for (const each of tallies) {
    total.done += each.done;
    total.failed += each.failed;
    total.inputTokens += each.inputTokens;
    total.outputTokens += each.outputTokens;
    total.gateMs += each.gateMs;
    total.allowanceMs += each.allowanceMs;
    total.yieldMs += each.yieldMs;
    total.refusedMs += each.refusedMs;
  }
  return total;
}

/** A full page, and how its chunks ended: all rows done, or some failed. */
export const pageSchema = talliesSchema.extend({
  chunksDone: z.number(),
  chunksFailed: z.number(),
});

export type Page = z.infer<typeof pageSchema>;

export const failureSchema = z.object({
  code: z.string(),
  /** One sentence that somebody can act on. */
  message: z.string(),
  /** Where in the file, for a file that was refused. */
  problems: z.array(z.object({ line: z.number().optional(), message: z.string() })).optional(),
});

export type Failure = z.infer<typeof failureSchema>;

export const importItemSchema = z.object({
  importId: z.string(),
  /** Whose it is; nobody's, where everyone is one or it was made before there were owners. */
  owner: z.string().optional(),
  name: z.string(),
  mode: z.enum(MODES),
  state: z.enum(IMPORT_STATES),
  /** Reading ends in `paused`, for somebody who looks at the report before anything is spent. */
  hold: z.boolean(),
  /** Rises with each retry: what was written in an earlier round is not of this one. */
  round: z.number(),

  instructions: z.string(),
  /** The columns that the model sees; all, if none is named. */
  columns: z.array(z.string()),
  idColumn: z.string().optional(),
  encoding: z.string().optional(),
  delimiter: z.string().optional(),
  maxCostUsd: z.number().optional(),
  /** ISO 8601; kept for the provider's batch endpoint. */
  deadline: z.string().optional(),

  /** Known once it has been read. */
  layout: z.object({ total: z.number(), chunkRows: z.number() }).optional(),
  header: z.array(z.string()).optional(),
  /** Of the upload, so that the bytes read are the bytes named. */
  etag: z.string().optional(),
  /** How often its reading was begun. */
  reads: z.number(),

  /** Full pages, by number. */
  pages: z.record(z.string(), pageSchema),
  failure: failureSchema.optional(),
  /** What the reaper last found without a worker, and how often it sent that again. */
  stalled: z
    .object({
      /** None, where no worker took any chunk. */
      chunk: z.number().optional(),
      reason: z.string(),
      resent: z.number(),
      at: z.number(),
    })
    .optional(),

  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** When the upload's form ends. */
  uploadBy: z.number(),
  /** When rows were first sent; what ETA counts from. */
  startedAt: z.number().optional(),
  /** Rows that were done or failed by then, of those that are not begun anew. */
  settledAtStart: z.number().optional(),
  /** Since when chunks wait to be sent; gone once all are. */
  sendingSince: z.number().optional(),
  /** Changes of state, and pages that became full. */
  updatedAt: z.number(),
  completedAt: z.number().optional(),
  /** Epoch seconds: DynamoDB deletes it some time after. */
  ttl: z.number(),
});

export type ImportItem = z.infer<typeof importItemSchema>;
