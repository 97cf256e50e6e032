import { randomUUID } from 'node:crypto';
import { BusyError, GlimpseError, MissingError } from '../../shared/errors.ts';
import type { Work } from '../../shared/messages/thumbnail-work.ts';
import { type FailureClass, failureClassSchema } from '../../shared/thumbnails/failure.ts';
import { type Made, missingVariants } from '../../shared/thumbnails/image-item.ts';
import { splitImage, thumbnailKey } from '../../shared/thumbnails/image-key.ts';
import { addGallery } from '../../shared/thumbnails/images-table.ts';
import { type Original, readOriginal } from '../../shared/thumbnails/originals.ts';
import { type RenderedVariant, render } from '../../shared/thumbnails/render.ts';
import { deleteThumbnails, writeThumbnail } from '../../shared/thumbnails/thumbnails-bucket.ts';
import { recipeOf, type Variant } from '../../shared/thumbnails/variant.ts';
import {
  claimForWork,
  forget,
  type Hold,
  letGo,
  postpone,
  record,
  recordFailure,
} from '../../shared/thumbnails/worker-claim.ts';
import { removeThumbnails } from './remove-thumbnails.ts';
import { retryDelay } from './retry-delay.ts';
import type { Outcome, Workshop } from './workshop.ts';

/** After so many workers died with an image in hand, the image is what kills them. */
const MOST_DEATHS = 4;

/** How many galleries a process remembers: what it forgets costs one idempotent write. */
const MOST_GALLERIES = 10_000;

/** Milliseconds before the deadline when a read gives up, so that there is time to say so. */
const SPARE_MS = 3000;

/**
 * One image, from claim to record. A cold image costs a claim, a read, a write a variant and a
 * record; the first one of a gallery also adds the gallery to the list, whatever comes of it.
 *
 * @throws what another attempt may cure, for the queue to deliver again.
 */
export async function makeThumbnails(
  workshop: Workshop,
  work: Work,
  { attempt, deadline }: { attempt: number; deadline: number },
): Promise<Outcome> {
  const hold = await claimForWork(workshop.table, work, workshop.variants, {
    owner: randomUUID(),
    now: workshop.now(),
    until: deadline,
  });
  if (hold === 'done' || hold === 'stale') return { kind: hold };
  try {
    return await workOn(workshop, hold, deadline);
  } catch (error) {
    // A claim that was lost is not ours to postpone.
    if (!(error instanceof BusyError)) {
      const now = workshop.now();
      await postpone(hold, retryDelay(error, attempt, now), now);
    }
    throw error;
  }
}

async function workOn(workshop: Workshop, hold: Hold, deadline: number): Promise<Outcome> {
  if (hold.item.deaths > MOST_DEATHS) {
    return await fail(workshop, hold, {
      class: 'transient',
      reason: `the last ${MOST_DEATHS} workers to try were killed`,
    });
  }
  if (hold.work.kind === 'removed') return await removeThumbnails(workshop, hold);
  let original: Original | undefined;
  try {
    original = await readOriginal(workshop.originals, hold.work.image, {
      maxBytes: workshop.maxBytes,
      signal: AbortSignal.timeout(Math.max(deadline - workshop.now() - SPARE_MS, 1)),
    });
    return await make(workshop, hold, original);
  } catch (error) {
    if (!(error instanceof GlimpseError) || error.blame !== 'permanent') throw error;
    if (error instanceof MissingError) return await gone(workshop, hold, error);
    return await fail(workshop, hold, {
      class: failureClassSchema.parse(error.code),
      reason: error.message,
      ...(original === undefined ? {} : { etag: original.etag }),
    });
  }
}

async function make(workshop: Workshop, hold: Hold, original: Original): Promise<Outcome> {
  const { item } = hold;
  const { image } = hold.work;
  // What is read is the truth, whatever the event or the table says: the keys carry its ETag.
  const sameSource = item.etag === original.etag;
  const wanted = sameSource ? missingVariants(item, workshop.variants) : workshop.variants;
  if (wanted.length === 0) {
    await letGo(hold);
    return { kind: 'done' };
  }
  const { variants: rendered, ...picture } = await render(original.bytes, wanted, {
    memoryBytes: workshop.memoryBytes,
  });
  const pairs = wanted.map((variant) => ({ variant, rendered: named(rendered, variant.name) }));
  await Promise.all([
    addToList(workshop, hold),
    ...pairs.map(({ variant, rendered }) =>
      writeThumbnail(workshop.thumbnails, thumbnailKey(image, original.etag, variant), rendered),
    ),
  ]);
  await record(hold, {
    ...picture,
    etag: original.etag,
    variants: {
      ...(sameSource ? item.variants : {}),
      ...Object.fromEntries(
        pairs.map(({ variant, rendered }) => [variant.name, madeOf(image, variant, rendered)]),
      ),
    },
  });
  const { missedAt } = item;
  return {
    kind: 'made',
    variants: wanted.length,
    ...(missedAt === undefined ? {} : { missToReadyMs: workshop.now() - missedAt }),
  };
}

function named(rendered: readonly RenderedVariant[], name: string): RenderedVariant {
  const found = rendered.find((variant) => variant.name === name);
  if (found === undefined) throw new Error(`the variant ${name} was not rendered`);
  return found;
}

function madeOf(image: string, variant: Variant, { width, height }: RenderedVariant): Made {
  return { recipe: recipeOf(variant, image), width, height };
}

/** Before the record, or a worker that dies in between would leave a gallery that no list shows. */
async function addToList({ table, galleries }: Workshop, { work, item }: Hold): Promise<void> {
  const { gallery } = splitImage(work.image);
  if (item.etag !== undefined || galleries.has(gallery)) return;
  await addGallery(table, gallery);
  if (galleries.size >= MOST_GALLERIES) galleries.clear();
  galleries.add(gallery);
}

/**
 * The object is not there. S3 told of it, so it was removed since: forget it, as its removal will.
 * A viewer asked for it: remember that there is nothing, for a while.
 */
async function gone(workshop: Workshop, hold: Hold, error: MissingError): Promise<Outcome> {
  await deleteThumbnails(workshop.thumbnails, hold.work.image);
  if (hold.work.kind === 'created') {
    await forget(hold);
    return { kind: 'removed' };
  }
  return await fail(workshop, hold, { class: 'missing', reason: error.message });
}

async function fail(
  workshop: Workshop,
  hold: Hold,
  failure: { class: FailureClass; reason: string; etag?: string },
): Promise<Outcome> {
  // What no picture was made of is in a gallery, too: there its reason is told.
  if (failure.class !== 'missing') await addToList(workshop, hold);
  await recordFailure(hold, failure, workshop.now());
  return { kind: 'failed', class: failure.class, reason: failure.reason };
}
