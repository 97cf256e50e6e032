import { Readable } from 'node:stream';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  NotFound,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { MissingError, TooLargeError, UnsupportedError } from '../errors.ts';
import { compareKeys, galleryPrefix } from './image-key.ts';

/** What is said of an image that is not there. */
export const NO_SUCH_ORIGINAL = 'there is no such image in the originals bucket';

/** The originals bucket, as its readers see it. */
export interface Originals {
  client: S3Client;
  bucket: string;
}

export interface Original {
  bytes: Uint8Array;
  etag: string;
}

/** One GET: the bytes, and the ETag that came with them. */
export async function readOriginal(
  { client, bucket }: Originals,
  image: string,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<Original> {
  try {
    const answer = await client.send(new GetObjectCommand({ Bucket: bucket, Key: image }), {
      abortSignal: signal,
    });
    const { Body: body, ETag: etag, ContentLength: length } = answer;
    if (body === undefined || etag === undefined) throw new Error(`S3 sent no body for ${image}`);
    if (length === undefined || length > maxBytes) {
      if (body instanceof Readable) body.destroy();
      throw new TooLargeError(`expected at most ${maxBytes} bytes, got ${length}`);
    }
    return { bytes: await body.transformToByteArray(), etag: unquote(etag) };
  } catch (error) {
    if (error instanceof NoSuchKey) {
      throw new MissingError(NO_SUCH_ORIGINAL, { cause: error });
    }
    if (error instanceof S3ServiceException && error.name === 'InvalidObjectState') {
      throw new UnsupportedError('the image is archived: restore it from Glacier first', {
        cause: error,
      });
    }
    throw error;
  }
}

export async function originalExists(
  { client, bucket }: Originals,
  image: string,
): Promise<boolean> {
  try {
    await client.send(new HeadObjectCommand({ Bucket: bucket, Key: image }));
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}

export interface ListedImages {
  /** Keys, in S3's order. */
  images: string[];
  /** Where the list goes on after; undefined at its end. A position, not always an image. */
  last?: string;
}

/** One ListObjectsV2: the images of one gallery, without the folders below it, or of the whole bucket. */
export async function listOriginals(
  { client, bucket }: Originals,
  { gallery, after, limit }: { gallery?: string; after?: string; limit: number },
): Promise<ListedImages> {
  const answer = await client.send(
    new ListObjectsV2Command({
      Bucket: bucket,
      MaxKeys: limit,
      EncodingType: 'url',
      ...(gallery === undefined ? {} : { Prefix: galleryPrefix(gallery), Delimiter: '/' }),
      ...(after === undefined ? {} : { StartAfter: after }),
    }),
  );
  const keys = (answer.Contents ?? []).map(({ Key: key = '' }) =>
    listedKey(key, answer.EncodingType),
  );
  // A folder's own marker is no image.
  const images = keys.filter((key) => !key.endsWith('/'));
  if (answer.IsTruncated !== true) return { images };
  // A page may end in a folder, or hold nothing else: the next one starts after all that is in it.
  const folders = (answer.CommonPrefixes ?? []).map(({ Prefix: prefix = '' }) =>
    listedKey(prefix, answer.EncodingType),
  );
  const last = [...keys, ...folders.map((folder) => folder + LAST_CHARACTER)]
    .sort(compareKeys)
    .at(-1);
  return { images, ...(last === undefined ? {} : { last }) };
}

const LAST_CHARACTER = '\u{10ffff}';

/**
 * XML cannot carry every key, so lists are asked for URL-encoded, which writes a space as `+`; the
 * answer says whether they are.
 */
export function listedKey(key: string, encodingType: string | undefined): string {
  return encodingType === 'url' ? decodeURIComponent(key.replaceAll('+', ' ')) : key;
}

function unquote(etag: string): string {
  return etag.replaceAll('"', '');
}
