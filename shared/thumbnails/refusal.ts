import { padSequencer, type Work } from '../messages/thumbnail-work.ts';
import { type ImageItem, missingVariants } from './image-item.ts';
import type { Variant } from './variant.ts';

/** Why a worker may not begin: another has the image, a newer event was seen, or nothing is left to do. */
export type Refusal = 'busy' | 'stale' | 'done';

/**
 * The same rule as the claim's condition in images-table.ts, on the item that the failed
 * condition gave back; undefined where the claim would now succeed. A test holds the two together.
 */
export function refusalOf(
  item: ImageItem,
  work: Work,
  variants: readonly Variant[],
  now: number,
): Refusal | undefined {
  if (isOlder(work, item)) return 'stale';
  if (item.claim?.kind === 'working' && item.claim.until > now) return 'busy';
  if (work.kind === 'removed') return undefined;
  if (work.kind === 'created' && item.etag !== work.etag) return undefined;
  if (item.failure !== undefined && item.failure.retryAt > now) return 'done';
  return missingVariants(item, variants).length === 0 ? 'done' : undefined;
}

function isOlder(work: Work, item: ImageItem): boolean {
  if (work.kind === 'wanted' || item.sequencer === undefined) return false;
  return padSequencer(work.sequencer) < item.sequencer;
}
