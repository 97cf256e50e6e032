import { randomUUID } from 'node:crypto';
import { RETRY_AFTER } from '../../shared/thumbnails/failure.ts';
import { type ImageItem, isCold, isFailing, isMade } from '../../shared/thumbnails/image-item.ts';
import type { ImageRow } from '../../shared/thumbnails/images-table.ts';
import { NO_SUCH_ORIGINAL } from '../../shared/thumbnails/originals.ts';
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
  /**
   * Cold images that are left as they are, and in how many milliseconds to ask for them: the caller has
   * caused as much as one may in a minute, or their messages were not taken.
   */
  held: ReadonlyMap<string, number>;
}

/** Milliseconds for a queue that takes no messages. */
const UNSENT_AGAIN = 5000;

/**
 * Sets going whatever is cold: one round of claims, all at once, then a message for each claim
 * that was won. Warm rows cost nothing. No image is waited for.
 *
 * Before the claims one write counts what is cold against the caller's bound: what does not exist is as
 * cold as what does, and a script that names it would have a look into the bucket for each.
 *
 * @param isThere looks for the original of an image that the table knows nothing of, before its claim.
 * Without it the originals were seen.
 * @throws where not one of the rows can be told of.
 */
export async function warmUp(
  service: Service,
  rows: readonly ImageRow[],
  wanted: readonly Variant[],
  isThere?: (image: string) => Promise<boolean>,
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
  if (allCold.length === 0) return { rows: [...rows], complete: true, held: new Map() };
  const { granted, retryAfterMs } = await takeBound(service, 'coldImages', allCold.length);
  const cold = allCold.slice(0, granted);
  const held = new Map(allCold.slice(granted).map(({ image }) => [image, retryAfterMs]));
  if (held.size > 0) {
    service.warn('a caller has asked for as many cold images as one may in a minute', {
      caller: service.caller.id,
      held: held.size,
    });
  }
  if (cold.length === 0) return { rows: [...rows], complete: false, held };

  const owner = randomUUID();
  const claims = await Promise.allSettled(
    cold.map(async ({ image, item }) => {
      if (isThere !== undefined && !wasSeen(item) && !(await isThere(image))) {
        return { won: false, item: missing(item, now) } as const;
      }
      return await claimForViewer(service.table, image, wanted, { owner, now });
    }),
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
  for (const image of unsent) held.set(image, UNSENT_AGAIN);
  // Those that could not be claimed are asked for again; where there is no other answer, something is wrong.
  if (errors.length === rows.length) throw errors[0];
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
    complete: errors.length === 0 && held.size === 0,
    held,
  };
}

/** Whether S3 has ever told of it, or a worker has read it. What is missing has no ETag. */
function wasSeen({ etag, sequencer, failure }: ImageItem): boolean {
  return etag !== undefined || (sequencer !== undefined && failure?.class !== 'missing');
}

/** What is not there, as it is told. Nothing of it is kept: whoever uploads it is not waited for. */
export function missing(item: ImageItem, now: number): ImageItem {
  return {
    ...item,
    failure: { class: 'missing', reason: NO_SUCH_ORIGINAL, retryAt: now + RETRY_AFTER.missing },
  };
}

/** A claim without its message would keep every viewer waiting for its lease: it is given back. */
async function sendOrRelease(
  service: Service,
  images: readonly string[],
  owner: string,
): Promise<readonly string[]> {
  if (images.length === 0) return [];
  const unsent = await sendRequests(service.queue, images);
  service.count('Jobs', images.length - unsent.length);
  if (unsent.length === 0) return [];
  service.count('JobsUnsent', unsent.length);
  service.warn('messages were not taken by the queue', { images: unsent });
  await Promise.all(unsent.map((image) => releaseViewerClaim(service.table, image, owner)));
  return unsent;
}
