import {
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  NotFound,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { isThumbnailOf, thumbnailRoot } from './image-key.ts';
import { listedKey } from './originals.ts';

export interface ThumbnailsBucket {
  client: S3Client;
  bucket: string;
}

/** The key holds the source's ETag, so what is at it never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable';

export async function writeThumbnail(
  { client, bucket }: ThumbnailsBucket,
  key: string,
  { bytes, contentType }: { bytes: Uint8Array; contentType: string },
): Promise<void> {
  await client.send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body: bytes,
      ContentType: contentType,
      CacheControl: FOR_EVER,
    }),
  );
}

/** One HEAD. */
export async function thumbnailExists(
  { client, bucket }: ThumbnailsBucket,
  key: string,
): Promise<boolean> {
  try {
    await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}

/** Deletes the thumbnails of every source that the image has had. */
export async function deleteThumbnails(
  { client, bucket }: ThumbnailsBucket,
  image: string,
): Promise<void> {
  let token: string | undefined;
  do {
    const page = await client.send(
      new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: `${thumbnailRoot(image)}/`,
        EncodingType: 'url',
        ...(token === undefined ? {} : { ContinuationToken: token }),
      }),
    );
    const keys = (page.Contents ?? [])
      .map(({ Key: key = '' }) => listedKey(key, page.EncodingType))
      .filter((key) => isThumbnailOf(image, key));
    // One by one: an image has a few, and DeleteObjects' XML cannot carry every key.
    await Promise.all(
      keys.map((key) => client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }))),
    );
    token = page.NextContinuationToken;
  } while (token !== undefined);
}
