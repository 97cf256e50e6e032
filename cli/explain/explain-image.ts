import { isDeepStrictEqual } from 'node:util';
import { isFailing, unknownItem } from '../../shared/thumbnails/image-item.ts';
import { recipeOf, type Variant } from '../../shared/thumbnails/variant.ts';
import type { ImageFacts, ThumbnailFacts } from './read-image.ts';

export type ImageCode =
  | 'unknown'
  | 'missing'
  | 'failed'
  | 'pending'
  | 'stale'
  | 'lost'
  | 'cold'
  | 'ready';

export interface ImageExplanation {
  /** What a viewer has of it now, and why. */
  readonly code: ImageCode;
  readonly words: readonly string[];
  /** What would help, the most likely first. */
  readonly help: readonly string[];
  readonly facts: ImageFacts;
}

/** @param now epoch milliseconds */
export function explainImage(
  facts: ImageFacts,
  variants: readonly Variant[],
  now: number,
): ImageExplanation {
  const code = codeOf(facts, variants, now);
  return {
    code,
    words: [
      source(facts),
      version(facts),
      ...facts.thumbnails.map((each) => thumbnail(facts.image, each, variants)),
      ...lastFailure(facts, now),
      ...work(facts, now),
      ...deaths(facts),
    ],
    help: HELP[code],
    facts,
  };
}

const AGAIN = 'Ask for it again: open its gallery, or "npm run backfill -- --gallery G".';

const HELP: Readonly<Record<ImageCode, readonly string[]>> = {
  unknown: [
    'If it was removed, its thumbnails and its record went with it: upload it again.',
    'Or look for a slip in the key: it is that of the originals bucket, whole and as it is there.',
  ],
  missing: ['Upload the original; its thumbnails are made by themselves.'],
  failed: [
    'Upload a picture that can be read under the same key: a new source is tried at once.',
    'Or wait for its next try; after a repair of the stack, "npm run backfill" asks for all again.',
  ],
  pending: [
    'Wait: a page that shows it asks by itself.',
    'If it lasts for minutes, look at the on-demand queue and the worker’s log.',
  ],
  stale: [
    AGAIN,
    'If events of the originals bucket do not reach the eager queue, so that this recurs, look at the bucket’s notifications.',
  ],
  lost: [
    'Have them made again: "npm run backfill -- --gallery G --lost".',
    'Something other than Glimpse removed objects of the thumbnails bucket: look at its lifecycle rules.',
  ],
  cold: [AGAIN],
  ready: [],
};

function codeOf(
  { image, original, item, thumbnails }: ImageFacts,
  variants: readonly Variant[],
  now: number,
): ImageCode {
  if (original === undefined) {
    return isDeepStrictEqual(item, unknownItem(item.name)) ? 'unknown' : 'missing';
  }
  const isMade = ({ variant, recipe }: ThumbnailFacts) =>
    recipe === wantedOf(image, variants, variant);
  const isCurrent = item.etag === original.etag;
  if (isCurrent && thumbnails.every(isMade)) {
    return thumbnails.every(({ object }) => object !== undefined) ? 'ready' : 'lost';
  }
  if (item.claim !== undefined && item.claim.until > now) return 'pending';
  if (isFailing(item, now)) return 'failed';
  return item.etag !== undefined && !isCurrent ? 'stale' : 'cold';
}

function wantedOf(image: string, variants: readonly Variant[], name: string): string | undefined {
  const variant = variants.find((each) => each.name === name);
  return variant === undefined ? undefined : recipeOf(variant, image);
}

function source({ image, original }: ImageFacts): string {
  return original === undefined
    ? `${image} is not in the originals bucket.`
    : `${image} is in the originals bucket: ${bytes(original.bytes)}, ETag ${original.etag}, written ${at(original.modified)}.`;
}

function version({ original, item }: ImageFacts): string {
  if (item.etag === undefined) {
    return original === undefined
      ? 'Nothing is recorded of it: it never was there, or it was removed.'
      : 'No thumbnail of it is recorded.';
  }
  const size = item.width === undefined ? '' : `, ${item.width} × ${item.height} px upright`;
  const known = `Its record is of the ETag ${item.etag}${size}`;
  if (original === undefined || original.etag === item.etag) return `${known}.`;
  return `${known}: an older version than the one in the bucket.`;
}

function thumbnail(
  image: string,
  { variant, recipe, key, object, url }: ThumbnailFacts,
  variants: readonly Variant[],
): string {
  if (key === undefined) return `${variant}: not made.`;
  if (object === undefined) return `${variant}: recorded as made, but ${key} is not there.`;
  const old = recipe === wantedOf(image, variants, variant) ? '' : ', by an earlier configuration';
  return `${variant}: ${bytes(object.bytes)}${old}, made ${at(object.modified)}, ${url}`;
}

function lastFailure({ item: { failure } }: ImageFacts, now: number): string[] {
  if (failure === undefined) return [];
  const next =
    failure.retryAt > now
      ? `it is tried again when it is asked for after ${at(new Date(failure.retryAt))}`
      : 'it is tried again when it is next asked for';
  return [`Its last try failed as ${failure.class}: ${failure.reason}; ${next}.`];
}

function work({ item: { claim } }: ImageFacts, now: number): string[] {
  if (claim === undefined) return [];
  const until = at(new Date(claim.until));
  if (claim.until <= now) {
    return [`A ${claim.kind} claim lapsed at ${until}: whoever asks next claims it again.`];
  }
  return [
    claim.kind === 'queued'
      ? `It is queued; if no worker takes it until ${until}, whoever asks then queues it again.`
      : `A worker is at it; its claim is good until ${until}.`,
  ];
}

function deaths({ item }: ImageFacts): string[] {
  if (item.deaths === 0) return [];
  const workers = item.deaths === 1 ? 'One worker' : `${item.deaths} workers`;
  return [`${workers} died with it in hand: out of memory or time, says the worker’s log.`];
}

function at(time: Date): string {
  return time
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}

function bytes(count: number): string {
  if (count < 1000) return `${count} bytes`;
  if (count < 1_000_000) return `${(count / 1000).toFixed(1)} KB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}
