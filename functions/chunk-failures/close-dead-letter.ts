import { BusyError } from '../../shared/errors.ts';
import { failImport, haltImport } from '../../shared/imports/change-state.ts';
import { type Closer, closeChunk } from '../../shared/imports/close-chunk.ts';
import { isOver } from '../../shared/imports/import-item.ts';
import { importOfSource } from '../../shared/imports/import-objects.ts';
import { type ImportsTable, readImport } from '../../shared/imports/imports-table.ts';
import { chunksOf } from '../../shared/imports/layout.ts';
import type { ChunkWork } from '../../shared/messages/chunk-work.ts';
import type { ImportJob } from '../../shared/messages/import-job.ts';

export type Closed =
  | { kind: 'closed'; completed: boolean }
  | { kind: 'failed' | 'paused' | 'nothing' };

/** Milliseconds until a chunk that somebody works on is looked at again. */
const LATER = 60_000;

/**
 * A chunk whose message was given up: its rows fail with the reason. Where its import is paused,
 * whoever resumes it sends the chunk again.
 *
 * @throws BusyError while a worker has the chunk after all
 */
export async function closeDeadChunk(
  closer: Closer,
  { importId, chunk, round }: ChunkWork,
): Promise<Closed> {
  const item = await readImport(closer.table, importId);
  if (item?.layout === undefined || isOver(item.state) || item.state === 'paused') {
    return { kind: 'nothing' };
  }
  if (item.round !== round) return { kind: 'nothing' };
  const { layout } = item;
  if (chunk > chunksOf(layout)) return { kind: 'nothing' };
  const reason =
    'undeliverable: the worker failed each time it was given the chunk of this row; whoever runs Glimpse finds the reason in its log';
  const closed = await closeChunk(closer, { ...item, layout }, chunk, reason);
  if (closed === 'held') {
    throw new BusyError(`chunk ${chunk} of ${importId} is being worked on`, closer.now() + LATER);
  }
  return { kind: 'closed', completed: closed === 'completed' };
}

/** A job whose message was given up: its import says so. */
export async function closeDeadJob({ table, now }: Closer, job: ImportJob): Promise<Closed> {
  switch (job.kind) {
    case 'read': {
      const importId = importOfSource(job.key);
      if (importId === undefined) return { kind: 'nothing' };
      const message =
        'The file could not be read: ask whoever runs Glimpse, for the log of import-intake says why.';
      const failure = { code: 'reading-failed', message };
      const { changed } = await failImport(table, importId, { now: now(), failure });
      if (changed) return { kind: 'failed' };
      // It was read, and it is the sending that failed each time.
      return await pauseUnsent(table, importId, now());
    }
    case 'send':
      return await pauseUnsent(table, job.importId, now());
    case 'export':
      return { kind: 'nothing' };
  }
}

async function pauseUnsent(table: ImportsTable, importId: string, now: number): Promise<Closed> {
  const message = 'The chunks could not be sent to their queue: resume to send them again.';
  const item = await readImport(table, importId);
  // Sent by another delivery, or by the reaper's.
  if (item?.sendingSince === undefined) return { kind: 'nothing' };
  const failure = { code: 'unsent', message };
  const unsentSince = item.sendingSince;
  const { changed } = await haltImport(table, item, { now, failure, unsentSince });
  return { kind: changed ? 'paused' : 'nothing' };
}
