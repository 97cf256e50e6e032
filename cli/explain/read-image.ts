import { HeadObjectCommand, NotFound, type S3Client } from '@aws-sdk/client-s3';
import { createUrls } from '../../shared/thumbnails/delivery.ts';
import { type ImageItem, unknownItem } from '../../shared/thumbnails/image-item.ts';
import { splitImage, thumbnailKey } from '../../shared/thumbnails/image-key.ts';
import { readImages } from '../../shared/thumbnails/images-table.ts';
import { requireBucket } from '../buckets.ts';
import { openClients } from '../clients.ts';
import type { Target } from '../target.ts';
import { UsageError } from '../usage-error.ts';

/** What S3 says of an object. */
export interface Found {
  etag: string;
  bytes: number;
  modified: Date;
}

/** All that is known of an image, wherever it is kept. */
export interface ImageFacts {
  image: string;
  /** Undefined where there is no such object. */
  original: Found | undefined;
  item: ImageItem;
  thumbnails: readonly ThumbnailFacts[];
}

export interface ThumbnailFacts {
  variant: string;
  recipe: string;
  /** Where it is, once it was recorded as made. */
  key?: string;
  object?: Found | undefined;
  url?: string;
}

/** Reads an image's record, its original and its thumbnails, and changes none of them. */
export async function readImageFacts(target: Target, image: string): Promise<ImageFacts> {
  const { outputs, endpoints } = target;
  const { s3, dynamodb } = openClients(target);
  const bucket = outputs.ThumbnailsBucket;
  const delivery = outputs.Delivery;
  if (bucket === undefined || delivery === undefined) {
    throw new UsageError(
      `Expected the outputs ThumbnailsBucket and Delivery of ${target.description}, got none: deploy it again with this version.`,
    );
  }
  const [original, items] = await Promise.all([
    head(s3, outputs.OriginalsBucket, image),
    readImages({ client: dynamodb, name: outputs.ImagesTable }, [image]),
  ]);
  // S3 does not say which of the two it lacks.
  if (original === undefined) await requireBucket(s3, outputs.OriginalsBucket, target);
  const item = items.get(image) ?? unknownItem(splitImage(image).name);

  const place = {
    region: await s3.config.region(),
    bucket,
    ...(endpoints === undefined ? {} : { endpoint: endpoints.s3 }),
  };
  const urlOf = await createUrls(delivery, place, () => s3.config.credentials())(new Date());
  const thumbnails = outputs.Variants.map(async (variant): Promise<ThumbnailFacts> => {
    const { name, format } = variant;
    const facts = { variant: name, recipe: item.variants[name]?.recipe ?? '' };
    if (item.etag === undefined || facts.recipe === '') return facts;
    const key = thumbnailKey(image, item.etag, { name, format });
    return { ...facts, key, object: await head(s3, bucket, key), url: urlOf(key).url };
  });
  const found = await Promise.all(thumbnails);
  const isLost = found.some(({ key, object }) => key !== undefined && object === undefined);
  if (isLost) await requireBucket(s3, bucket, target);
  return { image, original, item, thumbnails: found };
}

async function head(s3: S3Client, bucket: string, key: string): Promise<Found | undefined> {
  try {
    const { ETag, ContentLength, LastModified } = await s3.send(
      new HeadObjectCommand({ Bucket: bucket, Key: key }),
    );
    return {
      etag: (ETag ?? '').replaceAll('"', ''),
      bytes: ContentLength ?? 0,
      modified: LastModified ?? new Date(0),
    };
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
