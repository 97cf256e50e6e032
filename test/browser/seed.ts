import { createHash } from 'node:crypto';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { BatchWriteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import sharp from 'sharp';
import { rgbaToThumbHash } from 'thumbhash';
import { z } from 'zod';
import { joinImage, thumbnailKey } from '../../shared/thumbnails/image-key.ts';
import { addGallery, keyOf } from '../../shared/thumbnails/images-table.ts';
import { recipeOf, type Variant, variantSchema } from '../../shared/thumbnails/variant.ts';
import type { Cloud } from './cloud.ts';
import { sizeOf } from './photos.ts';

// Galleries whose thumbnails were made long ago: rows in the table, and objects where they are needed.

export interface Seeded {
  image: string;
  /** In the thumbnails bucket. */
  thumbnail: string;
}

/** As the worker would have left it, at a fraction of the time. */
export async function seedReady(
  cloud: Cloud,
  gallery: string,
  count: number,
  { objects = true }: { objects?: boolean } = {},
): Promise<Seeded[]> {
  const variants = variantsOf(cloud);
  const [card] = variants;
  if (card === undefined) throw new Error('The stack has no variants.');
  const rows = Array.from({ length: count }, (_, index) => rowOf(gallery, index, variants));
  const seeded = rows.map(({ image, row }) => ({
    image,
    thumbnail: thumbnailKey(image, row.etag, card),
  }));
  await Promise.all([
    writeRows(
      cloud,
      rows.map(({ row }) => row),
    ),
    ...(objects ? [putThumbnails(cloud, seeded)] : []),
  ]);
  await cloud.table.client.send(
    new PutCommand({
      TableName: cloud.table.name,
      Item: { gallery: `g:${gallery}`, name: ' /', complete: true },
    }),
  );
  await addGallery(cloud.table, gallery);
  return seeded;
}

function variantsOf({ endpoints }: Cloud): Variant[] {
  return z.array(variantSchema).parse(JSON.parse(endpoints.outputs.Variants ?? ''));
}

function rowOf(gallery: string, index: number, variants: readonly Variant[]) {
  const { width, height } = sizeOf(index);
  const image = joinImage({ gallery, name: `${100_000 + index}.jpg` });
  const made = variants.map((variant) => {
    const scale = Math.min(1, variant.width / width, variant.height / height);
    const size = { width: Math.round(width * scale), height: Math.round(height * scale) };
    return [variant.name, { recipe: recipeOf(variant, image), ...size }];
  });
  const row = {
    ...keyOf(image),
    etag: createHash('md5').update(image).digest('hex'),
    width,
    height,
    thumbhash: THUMBHASHES[index % THUMBHASHES.length],
    color: '#8899aa',
    variants: Object.fromEntries(made),
    deaths: 0,
  };
  return { image, row };
}

const THUMBHASHES = Array.from({ length: 16 }, (_, index) => {
  const rgba = Uint8Array.from({ length: 8 * 6 * 4 }, (_, at) =>
    at % 4 === 3 ? 255 : (at * 5 + index * 16) % 256,
  );
  return Buffer.from(rgbaToThumbHash(8, 6, rgba)).toString('base64');
});

async function writeRows({ table }: Cloud, rows: readonly object[]): Promise<void> {
  const batches = Array.from({ length: Math.ceil(rows.length / 25) }, (_, index) =>
    rows.slice(index * 25, (index + 1) * 25),
  );
  await atOnce(8, batches, async (batch) => {
    const { UnprocessedItems: left } = await table.client.send(
      new BatchWriteCommand({
        RequestItems: { [table.name]: batch.map((Item) => ({ PutRequest: { Item } })) },
      }),
    );
    if (Object.keys(left ?? {}).length > 0) throw new Error('The table did not take all rows.');
  });
}

/** The thumbnail that seeded images have. */
export const THUMBNAIL = await sharp({
  create: { width: 48, height: 32, channels: 3, background: '#3366cc' },
})
  .webp()
  .toBuffer();

async function putThumbnails(cloud: Cloud, seeded: readonly Seeded[]): Promise<void> {
  await atOnce(16, seeded, async ({ thumbnail }) => {
    await cloud.target.s3.send(
      new PutObjectCommand({
        Bucket: cloud.endpoints.buckets.thumbnails ?? '',
        Key: thumbnail,
        Body: THUMBNAIL,
        ContentType: 'image/webp',
        CacheControl: 'public, max-age=31536000, immutable',
      }),
    );
  });
}

async function atOnce<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}

/** An image that somebody is making, for as long as the test wants: it stays pending. */
export async function seedWorking({ table }: Cloud, image: string): Promise<void> {
  const claim = { kind: 'working', owner: 'a test', until: Date.now() + 3_600_000 };
  await table.client.send(
    new PutCommand({
      TableName: table.name,
      Item: { ...keyOf(image), variants: {}, deaths: 0, claim },
    }),
  );
}
