import * as z from 'zod';

/** What became of a row. Written once in a round; a row that is done is never written again. */
export const rowItemSchema = z.object({
  row: z.number(),
  id: z.string(),
  state: z.enum(['done', 'failed']),
  round: z.number(),
  summary: z.string().optional(),
  /** Why it failed: one sentence, beginning with a code. */
  reason: z.string().optional(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  model: z.string().optional(),
  promptVersion: z.string().optional(),
});

export type RowItem = z.infer<typeof rowItemSchema>;
