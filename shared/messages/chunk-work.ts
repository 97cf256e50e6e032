import * as z from 'zod';
import { MalformedMessageError } from '../errors.ts';

// What arrives on the chunk queues: one chunk of one import.

const chunkWorkSchema = z.strictObject({
  importId: z.string().min(1),
  chunk: z.int().min(1),
  /** Of the import: a later round has made an earlier one's messages stale. */
  round: z.int().min(0),
  /** How often each row was refused an answer so far, of those that were. */
  tries: z.record(z.string(), z.int().min(1)).optional(),
});

export type ChunkWork = z.infer<typeof chunkWorkSchema>;

export const encodeChunkWork = (work: ChunkWork): string => JSON.stringify(work);

export function parseChunkWork(body: string): ChunkWork {
  try {
    return chunkWorkSchema.parse(JSON.parse(body));
  } catch (cause) {
    throw new MalformedMessageError(
      `expected {"importId", "chunk", "round"}, got ${body.slice(0, 200)}`,
      { cause },
    );
  }
}
