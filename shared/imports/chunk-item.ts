import * as z from 'zod';
import { talliesSchema } from './import-item.ts';

/** A chunk as the table holds it, from its first claim on. */
export const chunkItemSchema = talliesSchema.extend({
  chunk: z.number(),
  round: z.number(),
  /** All its rows are written, in `round`. */
  settled: z.boolean(),
  /** Who has it, and until when at the latest, in epoch milliseconds. */
  worker: z.string().optional(),
  until: z.number().optional(),
  /** When it was last claimed. */
  claimedAt: z.number().optional(),
  /** How often the reaper has sent it again in `round`. */
  resent: z.number(),
  /** When somebody last wrote here; or when it comes back, for one that was handed back with a delay. */
  touchedAt: z.number(),
  /** When its last row was written, as far as the last look of its worker knows. */
  wroteAt: z.number().optional(),
});

export type ChunkItem = z.infer<typeof chunkItemSchema>;

/** Whether nothing is left to do for a chunk in a round: a retry leaves alone what has no failed row. */
export const isClosed = ({ settled, round, failed }: ChunkItem, current: number): boolean =>
  settled && (round >= current || failed === 0);
