import * as z from 'zod';
import { mayReach } from '../../shared/access/prefixes.ts';
import { TooManyRequestsError } from '../../shared/errors.ts';
import { decodeCursor, encodeCursor } from '../../shared/runtime/parse-request.ts';
import { unknownItem } from '../../shared/thumbnails/image-item.ts';
import { compareKeys, galleryPrefix, splitImage } from '../../shared/thumbnails/image-key.ts';
import { type ImageView, viewImage } from '../../shared/thumbnails/image-view.ts';
import {
  addGallery,
  type GalleryPage,
  type ImageRow,
  type Listed,
  readGallery,
  readListed,
  saveListed,
} from '../../shared/thumbnails/images-table.ts';
import {
  type ListedImages,
  listOriginals,
  type Originals,
} from '../../shared/thumbnails/originals.ts';
import type { Variant } from '../../shared/thumbnails/variant.ts';
import { keyText } from './request.ts';
import type { Service } from './service.ts';
import { takeBound } from './take-bound.ts';
import { warmUp } from './warm-up.ts';

/** Of this gallery's pages: in another one, what sorts before it would be passed over. */
const cursorOf = (gallery: string) =>
  z.strictObject({
    gallery: z.literal(gallery),
    after: keyText.min(1),
    listed: z
      .union([
        z.strictObject({ through: keyText.min(1) }),
        z.strictObject({ complete: z.literal(true) }),
      ])
      .optional(),
  });

export interface ImagesRequest {
  gallery: string;
  variant: Variant;
  limit: number;
  cursor: string | undefined;
}

interface Page {
  rows: ImageRow[];
  next?: string;
  /** How far the folder is listed, as far as this page knows; only the table's own word is kept. */
  listed?: Listed;
}

/**
 * A page of a gallery. Warm, it is one Query and nothing else. Where the gallery's folder has not
 * been listed from S3 as far as this page goes, one ListObjectsV2 brings what the table lacks, or two
 * where it begins with folders.
 */
export async function listImages(
  service: Service,
  { gallery, variant, limit, cursor }: ImagesRequest,
): Promise<{ images: ImageView[]; cursor?: string; readOnly?: true }> {
  const from = cursor === undefined ? undefined : decodeCursor(cursorOf(gallery), cursor);
  const { views, uploads } = service.caller;
  const readOnly = mayReach(uploads, gallery) ? {} : ({ readOnly: true } as const);
  // As a gallery that does not exist, and at no cost.
  if (!mayReach(views, gallery)) return { images: [], ...readOnly };
  const stored = await readGallery(service.table, gallery, {
    ...(from === undefined ? {} : { after: from.after }),
    limit,
  });
  const known = from === undefined ? await listedOf(service, gallery, stored) : from.listed;
  const adopting = !covers(known, stored, limit);
  if (adopting) await takeListing(service);
  const page = adopting
    ? await adopt(service, gallery, { stored, after: from?.after, limit })
    : warmPage(stored, known);

  const wanted = [variant];
  const { rows, complete, held } = await warmUp(service, page.rows, wanted);
  const shown = rows.filter(({ item }) => item.failure?.class !== 'missing');
  // Only now does the table have a row for each. A gallery of which nothing exists is none.
  if (adopting && complete && page.listed !== undefined && shown.length > 0) {
    await Promise.all([
      saveListed(service.table, gallery, page.listed, from?.after),
      ...(from === undefined ? [addGallery(service.table, gallery)] : []),
    ]);
  }
  const now = service.now();
  const urls = await service.urls(new Date(now));
  return {
    images: shown.map(({ image, item }) => {
      const view = viewImage(image, item, wanted, urls, now);
      const retryAfterMs = held.get(image);
      return retryAfterMs === undefined ? view : { ...view, retryAfterMs };
    }),
    ...(page.next === undefined
      ? {}
      : {
          cursor: encodeCursor({
            gallery,
            after: page.next,
            ...(page.listed === undefined ? {} : { listed: page.listed }),
          }),
        }),
    ...readOnly,
  };
}

/** A folder that the table does not know costs a look into the bucket, also where there is none. */
async function takeListing(service: Service): Promise<void> {
  const { granted, retryAfterMs } = await takeBound(service, 'listings', 1);
  if (granted === 1) return;
  throw new TooManyRequestsError(
    `gallery: expected at most ${service.bounds.listings} new galleries a minute, got more`,
    retryAfterMs,
  );
}

/** The listing's row comes with the first page, unless names sort before it and fill the page. */
async function listedOf(
  service: Service,
  gallery: string,
  { listed, next }: GalleryPage,
): Promise<Listed | undefined> {
  if (listed !== undefined || next === undefined) return listed;
  return await readListed(service.table, gallery);
}

/** Whether the folder was listed as far as a page goes that the table fills, or to its end. */
function covers(listed: Listed | undefined, { rows }: GalleryPage, limit: number): boolean {
  if (listed === undefined) return false;
  if ('complete' in listed) return true;
  const last = rows.at(-1)?.item.name;
  return rows.length === limit && last !== undefined && compareKeys(last, listed.through) <= 0;
}

function warmPage({ rows, next }: GalleryPage, listed: Listed | undefined): Page {
  // Where the listing has not come to its end, neither has the gallery.
  const goesOn = listed !== undefined && 'through' in listed ? rows.at(-1)?.item.name : next;
  return {
    rows,
    ...(goesOn === undefined ? {} : { next: goesOn }),
    ...(listed === undefined ? {} : { listed }),
  };
}

/** As many as S3 lists at once. */
const WHOLE_LIST = 1000;

/**
 * One ListObjectsV2, and where it brought nothing but folders a second one, as long as S3 has them: pages
 * without pictures would be asked for one after the other.
 */
async function lookInto(
  originals: Originals,
  gallery: string,
  from: { after?: string; limit: number },
): Promise<ListedImages> {
  const found = await listOriginals(originals, { gallery, ...from });
  if (found.images.length > 0 || found.last === undefined) return found;
  return await listOriginals(originals, { gallery, after: found.last, limit: WHOLE_LIST });
}

/** Merges the table's page with the folder's, in S3's order. */
async function adopt(
  { originals }: Service,
  gallery: string,
  { stored, after, limit }: { stored: GalleryPage; after: string | undefined; limit: number },
): Promise<Page> {
  const prefix = galleryPrefix(gallery);
  const folder = await lookInto(originals, gallery, {
    ...(after === undefined ? {} : { after: prefix + after }),
    limit,
  });
  // Both pages are known up to where the shorter one ends.
  const end = [stored.next, folder.last?.slice(prefix.length)]
    .filter((each) => each !== undefined)
    .sort(compareKeys)[0];
  const byName = new Map(stored.rows.map((row) => [row.item.name, row]));
  for (const image of folder.images) {
    const { name } = splitImage(image);
    if (!byName.has(name)) byName.set(name, { image, item: unknownItem(name) });
  }
  const merged = [...byName.values()]
    .filter(({ item }) => end === undefined || compareKeys(item.name, end) <= 0)
    .sort((a, b) => compareKeys(a.item.name, b.item.name));
  const rows = merged.slice(0, limit);
  const next = merged.length > limit ? rows.at(-1)?.item.name : end;
  return {
    rows,
    ...(next === undefined ? {} : { next }),
    listed: next === undefined ? { complete: true } : { through: next },
  };
}
