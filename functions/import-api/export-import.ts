import { HeadObjectCommand, S3ServiceException } from '@aws-sdk/client-s3';
import { readTicket, type Ticket, takeTicket } from '../../shared/imports/export-ticket.ts';
import { isOver } from '../../shared/imports/import-item.ts';
import { exportKey } from '../../shared/imports/import-objects.ts';
import { readProgress } from '../../shared/imports/read-progress.ts';
import { findImport, isRead, type ReadImport } from './find-import.ts';
import { notPossible } from './not-possible.ts';
import { sendJob } from './send-job.ts';
import type { Service } from './service.ts';

export type Exported = { kind: 'ready'; url: string } | { kind: 'preparing'; retryAfterMs: number };

/** Milliseconds between two looks at whether it is there. */
const RETRY_AFTER = 1000;
/** Milliseconds that an export of an import that still runs is good for. */
const FRESH = 60_000;
/** Milliseconds that a writer has before it is asked for once more: so many, and one a row. */
const LEASE = 60_000;

/**
 * The rows as a CSV, which intake writes: where it is, or that it is being written. Of all who ask
 * for the same, one causes the job.
 */
export async function exportImport(
  service: Service,
  importId: string,
  onlyFailed: boolean,
): Promise<Exported> {
  const item = await findImport(service, importId);
  if (!isRead(item)) throw notPossible('export', item.state);
  return isOver(item.state)
    ? await exportSettled(service, item, onlyFailed)
    : await exportMoment(service, item, onlyFailed);
}

/** What it has come to stays as it is, and so does its export. */
async function exportSettled(
  service: Service,
  item: ReadImport,
  onlyFailed: boolean,
): Promise<Exported> {
  const { importId, round } = item;
  const of = await readProgress(service.table, item, service.now());
  const key = exportKey({ importId, round, of, onlyFailed });
  if ((await writtenAt(service, key)) !== undefined) return await ready(service, key);
  const ticket = await readTicket(service.table, { importId, onlyFailed });
  return await prepare(service, item, onlyFailed, ticket, key);
}

/**
 * The rows as they were a moment ago. Whoever polls through several minutes is to find what was
 * begun in the first, so the ticket says which that was.
 */
async function exportMoment(
  service: Service,
  item: ReadImport,
  onlyFailed: boolean,
): Promise<Exported> {
  const { importId, round } = item;
  const ticket = await readTicket(service.table, { importId, onlyFailed });
  const now = service.now();
  const key = exportKey({ importId, round, of: { moment: now }, onlyFailed });
  if (ticket === undefined) return await prepare(service, item, onlyFailed, ticket, key);
  const written = await writtenAt(service, ticket.key);
  if (written === undefined && ticket.until > now) return preparing;
  if (written !== undefined && written > now - FRESH) return await ready(service, ticket.key);
  return await prepare(service, item, onlyFailed, ticket, key);
}

const preparing = { kind: 'preparing', retryAfterMs: RETRY_AFTER } as const;

async function prepare(
  service: Service,
  { importId, layout, ttl }: ReadImport,
  onlyFailed: boolean,
  ticket: Ticket | undefined,
  key: string,
): Promise<Exported> {
  const now = service.now();
  if (ticket?.key === key && ticket.until > now) return preparing;
  const taken = await takeTicket(service.table, { importId, onlyFailed }, ticket, {
    key,
    until: now + LEASE + layout.total,
    ttl,
  });
  if (taken) await sendJob(service, { kind: 'export', importId, key, onlyFailed });
  return preparing;
}

/** Epoch milliseconds, or nothing where it is not yet. Without the right to list, S3 answers 403. */
async function writtenAt({ bucket }: Service, key: string): Promise<number | undefined> {
  try {
    const head = await bucket.client.send(new HeadObjectCommand({ Bucket: bucket.name, Key: key }));
    return head.LastModified?.getTime() ?? 0;
  } catch (error) {
    if (!(error instanceof S3ServiceException)) throw error;
    const { httpStatusCode: status } = error.$metadata;
    if (status === 403 || status === 404) return undefined;
    throw error;
  }
}

async function ready({ signing, now }: Service, key: string): Promise<Exported> {
  const { url } = signing.download(await signing.credentials(), key, new Date(now()));
  return { kind: 'ready', url };
}
