import pLimit from 'p-limit';
import { type ImageItem, isFailing, missingVariants } from '../shared/thumbnails/image-item.ts';
import { type ImagesTable, readImages } from '../shared/thumbnails/images-table.ts';
import { findLost, forgetLost } from '../shared/thumbnails/lost-thumbnails.ts';
import { listOriginals, type Originals } from '../shared/thumbnails/originals.ts';
import { type Queue, sendRequests } from '../shared/thumbnails/send-requests.ts';
import type { ThumbnailsBucket } from '../shared/thumbnails/thumbnails-bucket.ts';
import type { Variant } from '../shared/thumbnails/variant.ts';

export interface Backfill {
  originals: Originals;
  table: ImagesTable;
  queue: Queue;
  /** One gallery, or undefined for the whole bucket. */
  gallery?: string;
  /** Only images that lack one of these; undefined for every image. */
  lacking?: readonly Variant[];
  /** Where to look for what is recorded as made: what is gone is lacking. With `lacking` only. */
  lostFrom?: ThumbnailsBucket;
  /** The last key that an earlier run was done with. */
  after?: string;
  /** Checked between pages. */
  signal: AbortSignal;
  now: () => number;
}

export interface Tally {
  listed: number;
  queued: number;
  /** All that was asked for is there. */
  made: number;
  /** Failed, and not yet due for another try. */
  failed: number;
  /** Thumbnails that were recorded as made and are gone; they are among what is queued. */
  lost?: number;
  /** The last key that is done with. */
  after?: string;
}

/** ListObjectsV2's own limit. */
const PAGE = 1000;

/** BatchGetItem's own limit. */
const LOOKUP = 100;

/** Images whose thumbnails are looked for at the same time. */
const LOOKING = 16;

/**
 * Lists the bucket in pages of 1,000 and sends a message for each image, or for each that lacks
 * something. After each page everything up to its last key is done with.
 */
export async function* enqueue(backfill: Backfill): AsyncGenerator<Tally> {
  const tally: Tally = { listed: 0, queued: 0, made: 0, failed: 0 };
  let after = backfill.after;
  let complete = false;
  while (!complete && !backfill.signal.aborted) {
    const page = await listOriginals(backfill.originals, {
      limit: PAGE,
      ...(backfill.gallery === undefined ? {} : { gallery: backfill.gallery }),
      ...(after === undefined ? {} : { after }),
    });
    const wanted = backfill.lacking
      ? await withoutMade(backfill, page.images, backfill.lacking, tally)
      : page.images;
    const unsent = await sendRequests(backfill.queue, wanted);
    if (unsent.length > 0) {
      throw new Error(`the queue did not take ${unsent.length} of ${wanted.length} messages`);
    }
    tally.listed += page.images.length;
    tally.queued += wanted.length;
    complete = page.last === undefined;
    if (page.last !== undefined) {
      after = page.last;
      tally.after = after;
    }
    yield { ...tally };
  }
}

async function withoutMade(
  backfill: Backfill,
  images: readonly string[],
  lacking: readonly Variant[],
  tally: Tally,
): Promise<string[]> {
  const looking = pLimit(LOOKING);
  const wanted: string[] = [];
  for (let start = 0; start < images.length; start += LOOKUP) {
    const items = await readImages(backfill.table, images.slice(start, start + LOOKUP));
    const lost = await Promise.all(
      [...items].map(([image, item]) =>
        looking(() => forgetIfLost(backfill, image, item, lacking)),
      ),
    );
    for (const [index, [image, item]] of [...items].entries()) {
      const gone = lost[index] ?? 0;
      if (backfill.lostFrom !== undefined) tally.lost = (tally.lost ?? 0) + gone;
      if (gone > 0) wanted.push(image);
      else if (missingVariants(item, lacking).length === 0) tally.made += 1;
      else if (isFailing(item, backfill.now())) tally.failed += 1;
      else wanted.push(image);
    }
  }
  return wanted;
}

/** @returns how many thumbnails of the image are to be made again. */
async function forgetIfLost(
  { table, lostFrom, now }: Backfill,
  image: string,
  item: ImageItem,
  variants: readonly Variant[],
): Promise<number> {
  if (lostFrom === undefined) return 0;
  const lost = await findLost(lostFrom, image, item, variants);
  if (lost.length === 0) return 0;
  return (await forgetLost(table, image, item, lost, now())) ? lost.length : 0;
}
