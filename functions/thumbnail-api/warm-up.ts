import { randomUUID } from 'node:crypto';
import { type ImageItem, isCold, isFailing, isMade } from '../../shared/thumbnails/image-item.ts';
import type { ImageRow } from '../../shared/thumbnails/images-table.ts';
import { sendRequests } from '../../shared/thumbnails/send-requests.ts';
import type { Variant } from '../../shared/thumbnails/variant.ts';
import { claimForViewer, releaseViewerClaim } from '../../shared/thumbnails/viewer-claim.ts';
import type { Service } from './service.ts';
import { takeBound } from './take-bound.ts';

export interface Warmed {
  /** As read, or fresher where a claim's refusal told more. */
  rows: ImageRow[];
  /** Whether every cold image is on its way. */
  complete: boolean;
  /** Cold images that are left as they are: the caller has caused as much as one may in a minute. */
  held: ReadonlySet<string>;
  /** Milliseconds until those may be asked for. */
  retryAfterMs: number;
}

const nothingHeld = { held: new Set<string>(), retryAfterMs: 0 } as const;

/**
 * Sets going whatever is cold: one round of claims, all at once, then a message for each claim
 * that was won. Warm rows cost nothing. No image is waited for.
 *
 * Before the claims one write counts what is cold against the caller's bound: what does not exist is as
 * cold as what does, and a script that names it would have a claim, a message and a worker for each.
 */
export async function warmUp(
  service: Service,
  rows: readonly ImageRow[],
  wanted: readonly Variant[],
): Promise<Warmed> {
  const now = service.now();
  const allCold = rows.filter(({ item }) => isCold(item, wanted, now));
  const made = rows.filter(({ item }) => wanted.every((variant) => isMade(item, variant)));
  service.count('Hits', made.length);
  service.count('Misses', allCold.length);
  const others = rows.filter((row) => !allCold.includes(row) && !made.includes(row));
  const failing = others.filter(({ item }) => isFailing(item, now)).length;
  service.count('Failing', failing);
  service.count('Pending', others.length - failing);
  if (allCold.length === 0) return { rows: [...rows], complete: true, ...nothingHeld };
  const { granted, retryAfterMs } = await takeBound(service, 'coldImages', allCold.length);
  const cold = allCold.slice(0, granted);
  const held = new Set(allCold.slice(granted).map(({ image }) => image));
  if (held.size > 0) {
    service.warn('a caller has asked for as many cold images as one may in a minute', {
      caller: service.caller.id,
      held: held.size,
    });
  }
  if (cold.length === 0) return { rows: [...rows], complete: false, held, retryAfterMs };

  const owner = randomUUID();
  const claims = await Promise.allSettled(
    cold.map(({ image }) => claimForViewer(service.table, image, wanted, { owner, now })),
  );
  const won: string[] = [];
  const fresher = new Map<string, ImageItem>();
  const errors: unknown[] = [];
  cold.forEach(({ image }, index) => {
    const claim = claims[index];
    if (claim?.status !== 'fulfilled') errors.push(claim?.reason);
    else if (claim.value.won) won.push(image);
    else fresher.set(image, claim.value.item);
  });
  const unsent = await sendOrRelease(service, won, owner);
  // Some that could not be claimed are asked for again; when none could, something is wrong.
  if (errors.length === cold.length) throw errors[0];
  if (errors.length > 0) {
    service.warn('some images could not be claimed', {
      images: cold
        .filter((_, index) => claims[index]?.status === 'rejected')
        .map(({ image }) => image),
      error: errors[0],
    });
  }
  return {
    rows: rows.map((row) => ({ ...row, item: fresher.get(row.image) ?? row.item })),
    complete: errors.length === 0 && unsent === 0 && held.size === 0,
    held,
    retryAfterMs,
  };
}

/** A claim without its message would keep every viewer waiting for its lease: it is given back. */
async function sendOrRelease(
  service: Service,
  images: readonly string[],
  owner: string,
): Promise<number> {
  if (images.length === 0) return 0;
  const unsent = await sendRequests(service.queue, images);
  service.count('Jobs', images.length - unsent.length);
  if (unsent.length === 0) return 0;
  service.count('JobsUnsent', unsent.length);
  service.warn('messages were not taken by the queue', { images: unsent });
  await Promise.all(unsent.map((image) => releaseViewerClaim(service.table, image, owner)));
  if (unsent.length === images.length) throw new Error('the queue took none of the messages');
  return unsent.length;
}
