import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod';
import { type ImageItem, imageItemSchema, unknownItem } from './image-item.ts';
import { compareKeys, joinImage, splitImage } from './image-key.ts';
import { recipeOf, type Variant } from './variant.ts';

// The images table: a partition a gallery, a row an image, plus
// - one row a gallery that says how far its folder has been listed from S3;
// - one partition that lists the galleries;
// - one partition a caller, with a row a minute in which they asked for what is cold.

export interface ImagesTable {
  client: DynamoDBDocumentClient;
  name: string;
}

export interface ImageRow {
  image: string;
  item: ImageItem;
}

/** How far a gallery's folder has been listed from S3: up to a name, or to its end. */
export type Listed = { through: string } | { complete: true };

/**
 * No image's name has a slash, and nearly every name sorts after this one, so the first page of a
 * gallery brings it along. Where a name does sort before it, `readListed` fetches it.
 */
const LISTED = ' /';

const GALLERIES = 'galleries';

/** A partition key cannot be empty, and the empty gallery's name is. */
const partitionOf = (gallery: string) => `g:${gallery}`;

export function keyOf(image: string): { gallery: string; name: string } {
  const { gallery, name } = splitImage(image);
  return { gallery: partitionOf(gallery), name };
}

/** Where it is counted what a caller has caused in a minute. */
export const boundKey = (caller: string, minute: string) => ({
  gallery: `bound:${caller}`,
  name: minute,
});

const listedSchema = z.object({
  through: z.string().optional(),
  complete: z.literal(true).optional(),
});

function parseListed(row: unknown): Listed | undefined {
  const { through, complete } = listedSchema.parse(row ?? {});
  if (complete) return { complete };
  return through === undefined ? undefined : { through };
}

export interface GalleryPage {
  rows: ImageRow[];
  listed?: Listed;
  /** The last name read, where the gallery goes on after it. */
  next?: string;
}

/** One Query: up to `limit` rows of a gallery after a name, and what it says of the listing. */
export async function readGallery(
  table: ImagesTable,
  gallery: string,
  { after, limit }: { after?: string; limit: number },
): Promise<GalleryPage> {
  const answer = await table.client.send(
    new QueryCommand({
      TableName: table.name,
      KeyConditionExpression:
        after === undefined ? '#gallery = :gallery' : '#gallery = :gallery AND #name > :after',
      ExpressionAttributeNames: {
        '#gallery': 'gallery',
        ...(after === undefined ? {} : { '#name': 'name' }),
      },
      ExpressionAttributeValues: {
        ':gallery': partitionOf(gallery),
        ...(after === undefined ? {} : { ':after': after }),
      },
      // Two more than asked for: the listing's own row, and one that tells whether there are more.
      Limit: limit + 2,
    }),
  );
  const found = answer.Items ?? [];
  const rows = found
    .filter((row) => row.name !== LISTED)
    .map((row) => imageItemSchema.parse(row))
    .map((item) => ({ image: joinImage({ gallery, name: item.name }), item }));
  const listed = parseListed(found.find((row) => row.name === LISTED));
  const kept = rows.slice(0, limit);
  const last = kept.at(-1)?.item.name;
  const more = rows.length > limit || answer.LastEvaluatedKey !== undefined;
  return {
    rows: kept,
    ...(listed === undefined ? {} : { listed }),
    ...(more && last !== undefined ? { next: last } : {}),
  };
}

/** Reads the listing's row of a gallery whose first page did not bring it. */
export async function readListed(table: ImagesTable, gallery: string): Promise<Listed | undefined> {
  const answer = await table.client.send(
    new QueryCommand({
      TableName: table.name,
      KeyConditionExpression: '#gallery = :gallery AND #name = :name',
      ExpressionAttributeNames: { '#gallery': 'gallery', '#name': 'name' },
      ExpressionAttributeValues: { ':gallery': partitionOf(gallery), ':name': LISTED },
    }),
  );
  return parseListed(answer.Items?.[0]);
}

/**
 * Remembers how far a folder has been listed, for a page that began after `after`. Never moves back,
 * since two viewers list the same folder; and never leaves a gap, whatever a caller's cursor says:
 * a page that does not begin within what the table knows as listed is not remembered.
 */
export async function saveListed(
  table: ImagesTable,
  gallery: string,
  listed: Listed,
  after: string | undefined,
): Promise<void> {
  const through = 'through' in listed;
  const conditions = [
    ...(through ? ['(attribute_not_exists(#through) OR #through < :through)'] : []),
    ...(after === undefined ? [] : ['#through >= :after']),
  ];
  await unlessRefused(
    table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: { gallery: partitionOf(gallery), name: LISTED },
        UpdateExpression: through ? 'SET #through = :through' : 'SET #complete = :complete',
        ...(conditions.length > 0 ? { ConditionExpression: conditions.join(' AND ') } : {}),
        ExpressionAttributeNames: {
          ...(through || after !== undefined ? { '#through': 'through' } : {}),
          ...(through ? {} : { '#complete': 'complete' }),
        },
        ExpressionAttributeValues: {
          ...(through ? { ':through': listed.through } : { ':complete': listed.complete }),
          ...(after === undefined ? {} : { ':after': after }),
        },
      }),
    ),
  );
}

/** Adds a gallery to the list of galleries. Idempotent. */
export async function addGallery(table: ImagesTable, gallery: string): Promise<void> {
  await table.client.send(
    // A sort key cannot be empty either: the slash is for the empty gallery.
    new PutCommand({ TableName: table.name, Item: { gallery: GALLERIES, name: `/${gallery}` } }),
  );
}

/**
 * Galleries in their order. @param within all, or of the galleries that are named these and what is
 * below them, and none beside: one Query for each of the two ranges that a name stands for.
 */
export async function readGalleries(
  table: ImagesTable,
  { after, limit, within = 'all' }: { after?: string; limit: number; within?: Within },
): Promise<{ galleries: string[]; next?: string }> {
  if (within === 'all') {
    return await readAllGalleries(table, { limit, ...(after === undefined ? {} : { after }) });
  }
  const galleries: string[] = [];
  const left = rangesOf(within).filter((range) => after === undefined || endsBehind(range, after));
  for (const range of left.slice(0, MOST_RANGES)) {
    const room = limit - galleries.length;
    const found = await readRange(table, range, after, room + 1);
    galleries.push(...found.slice(0, room));
    const last = galleries.at(-1);
    if (found.length > room && last !== undefined) return { galleries, next: last };
    if (galleries.length === limit && last !== undefined) return { galleries, next: last };
  }
  const end = left[MOST_RANGES - 1];
  if (end === undefined || left.length === MOST_RANGES) return { galleries };
  return { galleries, next: 'only' in end ? end.only : `${end.below}/${LAST}` };
}

type Within = 'all' | readonly string[];
/** A gallery itself, or those below one. */
type Range = { only: string } | { below: string };

/** Queries for one page; where there are more names the page goes on. */
const MOST_RANGES = 20;
/** Sorts after whatever a gallery's name may go on with. */
const LAST = '\u{10ffff}';

/** In the order of the galleries: `a`, then `a-b`, then what is below `a`, as a minus comes before a slash. */
function rangesOf(names: readonly string[]): Range[] {
  const ranges = names.flatMap((name): Range[] => [{ only: name }, { below: name }]);
  const begin = (range: Range) => ('only' in range ? range.only : `${range.below}/`);
  return ranges.sort((a, b) => compareKeys(begin(a), begin(b)));
}

function endsBehind(range: Range, after: string): boolean {
  const end = 'only' in range ? range.only : `${range.below}/${LAST}`;
  return compareKeys(end, after) > 0;
}

async function readRange(
  table: ImagesTable,
  range: Range,
  after: string | undefined,
  limit: number,
): Promise<string[]> {
  const only = 'only' in range;
  const begin = only ? `/${range.only}` : `/${range.below}/`;
  const answer = await table.client.send(
    new QueryCommand({
      TableName: table.name,
      KeyConditionExpression: `#gallery = :gallery AND ${only ? '#name = :name' : 'begins_with(#name, :name)'}`,
      ExpressionAttributeNames: { '#gallery': 'gallery', '#name': 'name' },
      ExpressionAttributeValues: { ':gallery': GALLERIES, ':name': begin },
      Limit: limit,
      ...(after !== undefined && compareKeys(`/${after}`, begin) >= 0
        ? { ExclusiveStartKey: { gallery: GALLERIES, name: `/${after}` } }
        : {}),
    }),
  );
  return (answer.Items ?? []).map(galleryOf);
}

const galleryOf = (row: unknown): string => z.object({ name: z.string() }).parse(row).name.slice(1);

async function readAllGalleries(
  table: ImagesTable,
  { after, limit }: { after?: string; limit: number },
): Promise<{ galleries: string[]; next?: string }> {
  const answer = await table.client.send(
    new QueryCommand({
      TableName: table.name,
      KeyConditionExpression: '#gallery = :gallery AND #name > :after',
      ExpressionAttributeNames: { '#gallery': 'gallery', '#name': 'name' },
      // '.' is the character before '/': the first page starts before every gallery.
      ExpressionAttributeValues: {
        ':gallery': GALLERIES,
        ':after': after === undefined ? '.' : `/${after}`,
      },
      Limit: limit,
    }),
  );
  const galleries = (answer.Items ?? []).map(galleryOf);
  const last = galleries.at(-1);
  return {
    galleries,
    ...(answer.LastEvaluatedKey !== undefined && last !== undefined ? { next: last } : {}),
  };
}

/** One BatchGetItem for up to 100 images. Images that the table does not know come as unknown items. */
export async function readImages(
  table: ImagesTable,
  images: readonly string[],
): Promise<Map<string, ImageItem>> {
  const items = new Map(images.map((image) => [image, unknownItem(splitImage(image).name)]));
  let keys = [...items.keys()].map(keyOf);
  // DynamoDB leaves out what would pass 16 MB or its throughput, and names it.
  for (let round = 0; keys.length > 0 && round < 3; round++) {
    const answer = await table.client.send(
      new BatchGetCommand({ RequestItems: { [table.name]: { Keys: keys } } }),
    );
    for (const row of answer.Responses?.[table.name] ?? []) {
      const gallery = z.string().parse(row.gallery).slice(partitionOf('').length);
      const item = imageItemSchema.parse(row);
      items.set(joinImage({ gallery, name: item.name }), item);
    }
    const left = answer.UnprocessedKeys?.[table.name]?.Keys ?? [];
    keys = left.map((key) => z.object({ gallery: z.string(), name: z.string() }).parse(key));
  }
  return items;
}

/** The item that a failed condition gave back; a condition that fails on no item gives none. */
export function itemRefused(error: unknown, image: string): ImageItem | undefined {
  if (!(error instanceof ConditionalCheckFailedException)) return undefined;
  if (error.Item === undefined) return unknownItem(splitImage(image).name);
  return imageItemSchema.parse(unmarshall(error.Item));
}

/** A condition, and the names and values that it needs, for "at least one of these is not made". */
export function anyMissing(
  variants: readonly Variant[],
  image: string,
): {
  condition: string;
  names: Record<string, string>;
  values: Record<string, string>;
} {
  const clauses = variants.map(
    (_, index) =>
      `attribute_not_exists(#variants.#v${index}) OR #variants.#v${index}.#recipe <> :r${index}`,
  );
  return {
    condition: `(${clauses.join(' OR ')})`,
    names: {
      '#variants': 'variants',
      '#recipe': 'recipe',
      ...Object.fromEntries(variants.map(({ name }, index) => [`#v${index}`, name])),
    },
    values: Object.fromEntries(
      variants.map((variant, index) => [`:r${index}`, recipeOf(variant, image)]),
    ),
  };
}

/** A conditional write that lost has nothing to do. */
async function unlessRefused(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
