import { randomUUID } from 'node:crypto';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { readDepth } from '../../shared/fleet/queue-depth.ts';
import { failImport, haltImport, noteStalled } from '../../shared/imports/change-state.ts';
import { type ChunkItem, chunkItemSchema, isClosed } from '../../shared/imports/chunk-item.ts';
import type { ImportsBucket } from '../../shared/imports/chunk-objects.ts';
import { closeChunk } from '../../shared/imports/close-chunk.ts';
import { closePage, completeImport } from '../../shared/imports/close-page.ts';
import type { ImportItem, ImportState, Mode } from '../../shared/imports/import-item.ts';
import { sourceKey } from '../../shared/imports/import-objects.ts';
import {
  chunkKey,
  type ImportsTable,
  readChunks,
  readImport,
  refusedBy,
} from '../../shared/imports/imports-table.ts';
import {
  chunksOfPage,
  type Layout,
  lengthOf,
  pageOfChunk,
  pagesOf,
} from '../../shared/imports/layout.ts';
import { type Queue, sendAgain, sendChunks } from '../../shared/imports/send-chunks.ts';
import { encodeJob, type ImportJob } from '../../shared/messages/import-job.ts';

/** What the reaper's verbs work with. */
export interface Reaper {
  table: ImportsTable;
  bucket: ImportsBucket;
  queues: Readonly<Record<Mode, Queue>>;
  jobs: Queue;
  /** How often a chunk is sent again before its rows are closed as failed. */
  resends: number;
  /** Milliseconds without any progress before everything that is left is sent again. */
  quietMs: Readonly<Record<Mode, number>>;
  now: () => number;
}

/** What was found stalled, and what was done about it. */
export type Finding =
  | { kind: 'resent'; chunk: number; resent: number; reason: string }
  | { kind: 'closed'; chunk: number; reason: string }
  | { kind: 'sent-all' | 'sent-unbegun' | 'read-again' | 'paused' | 'failed'; reason: string }
  | { kind: 'completed' };

/** Milliseconds after which a reading or a sending that says nothing is dead. */
const SILENCE = 60_000;
/** Milliseconds that an upload which began in time may take. */
const UPLOAD_GRACE = 3_600_000;
/** Milliseconds in which a worker that was given a chunk has claimed it, also if it has to start first. */
const CLAIMED_WITHIN = 45_000;
/** Chunks are done nearly in order: behind so many pages that nobody began, nobody has begun any. */
const EMPTY_PAGES = 2;

type ReadImport = ImportItem & { layout: Layout };

export interface Reaped {
  /** Before anything was done about it; undefined where there is no such import. */
  state: ImportState | undefined;
  findings: Finding[];
  /**
   * When there may be something to find: the first of the claims that there are lapses, unless its
   * worker renews it, or nobody has claimed anything for too long. Epoch milliseconds.
   */
  againAt: number | undefined;
}

/** Finds what is stalled in one import, and sends it again or closes it. */
export async function reapImport(reaper: Reaper, importId: string): Promise<Reaped> {
  const item = await readImport(reaper.table, importId);
  switch (item?.state) {
    case 'awaiting-upload':
      return { state: item.state, findings: await reapUpload(reaper, item), againAt: undefined };
    case 'reading':
      return { state: item.state, findings: await reapReading(reaper, item), againAt: undefined };
    case 'running': {
      const { state } = item;
      if (item.layout === undefined) return { state, findings: [], againAt: undefined };
      const times: number[] = [];
      const findings = await reapRunning(reaper, { ...item, layout: item.layout }, times);
      const toCome = times.filter((at) => at > reaper.now());
      return { state, findings, againAt: toCome.length === 0 ? undefined : Math.min(...toCome) };
    }
    default:
      return { state: item?.state, findings: [], againAt: undefined };
  }
}

async function reapUpload(
  { table, now }: Reaper,
  { importId, uploadBy }: ImportItem,
): Promise<Finding[]> {
  if (now() < uploadBy + UPLOAD_GRACE) return [];
  const reason = 'No file was uploaded in time.';
  const failure = { code: 'not-uploaded', message: reason };
  const { changed } = await failImport(table, importId, { now: now(), failure });
  return changed ? [{ kind: 'failed', reason }] : [];
}

async function reapReading(
  reaper: Reaper,
  { importId, updatedAt, etag, stalled }: ImportItem,
): Promise<Finding[]> {
  // Less often each time: while nobody takes them, these must not use up the readings that it has.
  const last = stalled !== undefined && stalled.at > updatedAt ? stalled : undefined;
  const resent = (last?.resent ?? 0) + 1;
  if (reaper.now() < (last?.at ?? updatedAt) + SILENCE * 2 ** (resent - 1)) return [];
  if (etag === undefined) return [];
  await send(reaper.jobs, { kind: 'read', key: sourceKey(importId), etag });
  const reason = 'The reading of the file was cut off.';
  await noteStalled(reaper.table, importId, { reason, resent, at: reaper.now() });
  return [{ kind: 'read-again', reason }];
}

/** @param times is told when there may be something to find. */
async function reapRunning(reaper: Reaper, item: ReadImport, times: number[]): Promise<Finding[]> {
  const { table, now } = reaper;
  const { importId, pages, layout, sendingSince } = item;
  if (sendingSince !== undefined && now() > sendingSince + SILENCE) {
    await send(reaper.jobs, { kind: 'send', importId });
    return [{ kind: 'sent-all', reason: 'The sending of its chunks was cut off.' }];
  }
  const findings: Finding[] = [];
  let active = Math.max(item.updatedAt, item.startedAt ?? 0, item.stalled?.at ?? 0);
  let empty = 0;
  const unbegun: number[] = [];
  /** Messages that wait, before any is sent from here. */
  let waiting: number | undefined;
  for (let page = 1; page <= pagesOf(layout) && empty < EMPTY_PAGES; page++) {
    if (pages[String(page)] !== undefined) continue;
    const chunks = await readChunks(table, importId, page);
    empty = chunks.length === 0 ? empty + 1 : 0;
    unbegun.push(...missingOf(layout, page, chunks));
    for (const chunk of chunks) {
      active = Math.max(active, chunk.touchedAt, chunk.until ?? 0);
      if (chunk.until !== undefined) times.push(chunk.until);
      if (isLapsed(chunk, item, now())) waiting ??= await waitingFor(reaper, item);
      const found = await reapChunk(reaper, item, chunk);
      findings.push(...found);
      // Somebody else was faster with it.
      if (found.length === 0 && chunk.until !== undefined) active = Math.max(active, now());
      if (found.some(({ kind }) => kind === 'completed')) return findings;
    }
    // Whoever settled the last chunk died before it looked at the page.
    const closed = chunks.filter((chunk) => isClosed(chunk, item.round));
    const last = Math.max(...closed.map(({ touchedAt }) => touchedAt));
    if (closed.length === lengthOf(chunksOfPage(layout, page)) && now() > last + SILENCE) {
      const { closing } = await closePage(table, item, page, now());
      if (closing === 'completed') return [...findings, { kind: 'completed' }];
    }
  }
  if (now() > item.updatedAt + SILENCE && (await completeImport(table, item, now()))) {
    return [...findings, { kind: 'completed' }];
  }
  if (findings.some(({ kind }) => kind === 'resent') && waiting === 0) {
    findings.push(...(await sendUnbegun(reaper, item, unbegun)));
  } else if (findings.length === 0 && (await isQuiet(reaper, item, active))) {
    findings.push(await reapQuiet(reaper, item, active));
  }
  times.push(
    sendingSince === undefined ? active + patienceWith(item, active) : sendingSince + SILENCE,
  );
  return findings;
}

const waitingFor = async ({ queues }: Reaper, { mode }: ImportItem): Promise<number> =>
  (await readDepth(queues[mode])).depth;

const isLapsed = (chunk: ChunkItem, { round }: ImportItem, now: number): boolean =>
  !isClosed(chunk, round) && chunk.until !== undefined && now >= chunk.until;

/** Chunks of a page that nobody has ever claimed. */
function missingOf(layout: Layout, page: number, chunks: readonly ChunkItem[]): number[] {
  const begun = new Set(chunks.map(({ chunk }) => chunk));
  const { first, last } = chunksOfPage(layout, page);
  const all = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return all.filter((chunk) => !begun.has(chunk));
}

/**
 * Workers have ended, and no message waits. Those that were given a chunk and had not claimed it yet
 * have left nothing that tells of it. If it is on its way to another, this is a message too many.
 */
async function sendUnbegun(
  { queues }: Reaper,
  { importId, mode, round }: ReadImport,
  unbegun: readonly number[],
): Promise<Finding[]> {
  if (unbegun.length === 0) return [];
  const works = unbegun.map((chunk) => ({ importId, chunk, round }));
  await sendChunks(queues[mode], works);
  const reason = `${works.length === 1 ? 'A chunk was' : `${works.length} chunks were`} given to a worker that ended before it began.`;
  return [{ kind: 'sent-unbegun', reason }];
}

/** How often all was sent again in this silence: it is the same one only if nothing has moved since. */
function timesSent({ stalled }: ImportItem, active: number): number {
  return stalled?.chunk === undefined && stalled?.at === active ? stalled.resent : 0;
}

/** Milliseconds; more each time: a worker that cannot start has no use for more messages. */
function patienceWith(item: ImportItem, active: number): number {
  return CLAIMED_WITHIN * 2 ** timesSent(item, active);
}

/**
 * Chunks that nobody has claimed may wait their turn behind those of other imports for as long as
 * that takes. Where none waits on the queue they were given to workers that ended before they had
 * claimed them, and SQS would keep them hidden for many minutes.
 */
async function isQuiet(reaper: Reaper, item: ImportItem, active: number): Promise<boolean> {
  const silence = reaper.now() - active;
  if (silence > reaper.quietMs[item.mode]) return true;
  if (item.sendingSince !== undefined || silence <= patienceWith(item, active)) return false;
  return (await waitingFor(reaper, item)) === 0;
}

/** A chunk whose worker died: its claim, which has room for clocks that differ, has lapsed and nobody gave it back. */
async function reapChunk(reaper: Reaper, item: ReadImport, chunk: ChunkItem): Promise<Finding[]> {
  const { table, bucket, resends, now } = reaper;
  const { until, worker } = chunk;
  if (!isLapsed(chunk, item, now()) || until === undefined || worker === undefined) return [];
  const reason = `Chunk ${chunk.chunk} was left by a worker that ended in the middle of it.`;
  if (chunk.resent >= resends) {
    const why = `stalled: ${resends + 1} workers ended in the middle of the chunk of this row`;
    const closed = await closeChunk(
      { table, bucket, worker: randomUUID(), now },
      item,
      chunk.chunk,
      why,
    );
    if (closed === 'held') return [];
    const finding = { kind: 'closed', chunk: chunk.chunk, reason: why } as const;
    return closed === 'completed' ? [finding, { kind: 'completed' }] : [finding];
  }
  const resent = chunk.resent + 1;
  if (!(await freeChunk(table, item.importId, chunk, { worker, until, resent }))) return [];
  await sendAgain(
    reaper.queues[item.mode],
    { importId: item.importId, chunk: chunk.chunk, round: item.round },
    0,
  );
  await noteStalled(table, item.importId, { chunk: chunk.chunk, reason, resent, at: now() });
  return [{ kind: 'resent', chunk: chunk.chunk, resent, reason }];
}

/** Takes a lapsed claim away, unless its worker, or another, has written meanwhile. */
async function freeChunk(
  { client, name }: ImportsTable,
  importId: string,
  { chunk }: ChunkItem,
  { worker, until, resent }: { worker: string; until: number; resent: number },
): Promise<boolean> {
  try {
    await client.send(
      new UpdateCommand({
        TableName: name,
        Key: chunkKey(importId, pageOfChunk(chunk), chunk),
        UpdateExpression: 'SET #resent = :resent REMOVE #worker, #until',
        ConditionExpression: '#worker = :worker AND #until = :until',
        ExpressionAttributeNames: { '#resent': 'resent', '#worker': 'worker', '#until': 'until' },
        ExpressionAttributeValues: { ':resent': resent, ':worker': worker, ':until': until },
      }),
    );
    return true;
  } catch (error) {
    refusedBy(error, chunkItemSchema);
    return false;
  }
}

/** Nothing moves and nobody has anything: messages were lost, or nobody reads the queue. */
async function reapQuiet(
  { table, jobs, resends, now }: Reaper,
  item: ImportItem,
  active: number,
): Promise<Finding> {
  const { importId } = item;
  const minutes = Math.max(1, Math.floor((now() - active) / 60_000));
  const reason = `No worker has begun a chunk for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
  const resent = timesSent(item, active) + 1;
  if (resent > resends) {
    const message = `${reason} Everything was sent again ${resends} times: ask whoever runs Glimpse whether the chunk worker runs and may, then resume.`;
    await haltImport(table, item, { now: now(), failure: { code: 'no-worker', message } });
    return { kind: 'paused', reason: message };
  }
  await noteStalled(table, importId, { reason, resent, at: now() });
  await send(jobs, { kind: 'send', importId });
  return { kind: 'sent-all', reason };
}

async function send({ client, url }: Queue, job: ImportJob): Promise<void> {
  await client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: encodeJob(job) }));
}
