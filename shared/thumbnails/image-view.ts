import type { Urls } from './delivery.ts';
import type { FailureClass } from './failure.ts';
import { type ImageItem, isFailing, isMade } from './image-item.ts';
import { thumbnailKey } from './image-key.ts';
import type { Variant } from './variant.ts';

export type State = 'ready' | 'pending' | 'failed';

export interface VariantView {
  state: State;
  url?: string;
  width?: number;
  height?: number;
  expiresAt?: string;
}

/** An image, as the API tells of it. */
export interface ImageView {
  image: string;
  state: State;
  /** The source's size, upright. */
  width?: number;
  height?: number;
  variants: Record<string, VariantView>;
  placeholder: { thumbhash?: string; color?: string };
  retryAfterMs?: number;
  failure?: { class: FailureClass; reason: string; retryAt: string };
}

/** A thumbnail takes about this long from a claim to its record; a page polls once for all of its own. */
const RETRY_AFTER_MS = 500;

export function viewImage(
  image: string,
  item: ImageItem,
  wanted: readonly Variant[],
  urls: Urls,
  now: number,
): ImageView {
  const variants = Object.fromEntries(
    wanted.map((variant) => [variant.name, viewVariant(image, item, variant, urls, now)]),
  );
  const states = Object.values(variants).map(({ state }) => state);
  const state = worst(states);
  const { width, height, thumbhash, color, failure } = item;
  return {
    image,
    state,
    ...(width === undefined || height === undefined ? {} : { width, height }),
    variants,
    placeholder: {
      ...(thumbhash === undefined ? {} : { thumbhash }),
      ...(color === undefined ? {} : { color }),
    },
    ...(state === 'pending' ? { retryAfterMs: RETRY_AFTER_MS } : {}),
    ...(state === 'failed' && failure !== undefined
      ? {
          failure: {
            class: failure.class,
            reason: failure.reason,
            retryAt: new Date(failure.retryAt).toISOString(),
          },
        }
      : {}),
  };
}

function viewVariant(
  image: string,
  item: ImageItem,
  variant: Variant,
  urls: Urls,
  now: number,
): VariantView {
  const made = item.variants[variant.name];
  if (made === undefined || item.etag === undefined || !isMade(item, variant)) {
    return { state: isFailing(item, now) ? 'failed' : 'pending' };
  }
  const { url, expiresAt } = urls(thumbnailKey(image, item.etag, variant));
  return {
    state: 'ready',
    url,
    width: made.width,
    height: made.height,
    ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
  };
}

function worst(states: readonly State[]): State {
  if (states.includes('failed')) return 'failed';
  return states.includes('pending') ? 'pending' : 'ready';
}
