import { isFailing, missingVariants } from '../shared/thumbnails/image-item.ts';
import { type ImagesTable, readImages } from '../shared/thumbnails/images-table.ts';
import { listOriginals, type Originals } from '../shared/thumbnails/originals.ts';
import { type Queue, sendRequests } from '../shared/thumbnails/send-requests.ts';
import type { Variant } from '../shared/thumbnails/variant.ts';

export interface Backfill {
  originals: Originals;
  table: ImagesTable;
  queue: Queue;
  /** One gallery, or undefined for the whole bucket. */
  gallery?: string;
  /** Only images that lack one of these; undefined for every image. */
  lacking?: readonly Variant[];
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
  /** The last key that is done with. */
  after?: string;
}

/** ListObjectsV2's own limit. */
const PAGE = 1000;

/** BatchGetItem's own limit. */
const LOOKUP = 100;

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
  { table, now }: Backfill,
  images: readonly string[],
  lacking: readonly Variant[],
  tally: Tally,
): Promise<string[]> {
  const wanted: string[] = [];
  for (let start = 0; start < images.length; start += LOOKUP) {
    for (const [image, item] of await readImages(table, images.slice(start, start + LOOKUP))) {
      if (missingVariants(item, lacking).length === 0) tally.made += 1;
      else if (isFailing(item, now())) tally.failed += 1;
      else wanted.push(image);
    }
  }
  return wanted;
}
