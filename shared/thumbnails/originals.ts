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
import { galleryPrefix } from './image-key.ts';

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
      throw new MissingError('there is no such image in the originals bucket', { cause: error });
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

export interface ListedPage {
  names: string[];
  complete: boolean;
}

/** One ListObjectsV2: the names of a gallery's own images after a name, not of folders below it. */
export async function listGallery(
  { client, bucket }: Originals,
  gallery: string,
  { after, limit }: { after?: string; limit: number },
): Promise<ListedPage> {
  const prefix = galleryPrefix(gallery);
  const answer = await client.send(
    new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: prefix,
      Delimiter: '/',
      MaxKeys: limit,
      EncodingType: 'url',
      ...(after === undefined ? {} : { StartAfter: prefix + after }),
    }),
  );
  const names = (answer.Contents ?? [])
    .map(({ Key: key = '' }) => listedKey(key, answer.EncodingType).slice(prefix.length))
    // The folder's own marker has no name.
    .filter((name) => name !== '');
  return { names, complete: answer.IsTruncated !== true };
}

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
