import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { assertKeyLength, decodePath } from './object-key.ts';
import { notImplemented } from './s3-error.ts';

export interface S3Request {
  readonly method: string;
  /** As sent, still encoded; begins with `/bucket`, also where the bucket was in the host. */
  readonly rawPath: string;
  /** As sent, of which a signature was made: without the bucket if that was in the host. */
  readonly signedPath: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: IncomingHttpHeaders;
  /** Empty for the service itself. */
  readonly bucket: string;
  /** Empty for the bucket itself. */
  readonly key: string;
}

export type Operation =
  | 'ListBuckets'
  | 'HeadBucket'
  | 'GetBucketLocation'
  | 'ListObjects'
  | 'ListObjectsV2'
  | 'DeleteObjects'
  | 'PostObject'
  | 'GetObject'
  | 'HeadObject'
  | 'GetObjectAttributes'
  | 'PutObject'
  | 'CopyObject'
  | 'UploadPart'
  | 'DeleteObject'
  | 'CreateMultipartUpload'
  | 'CompleteMultipartUpload'
  | 'AbortMultipartUpload';

export function parseRequest(message: IncomingMessage): S3Request {
  const url = message.url ?? '/';
  const question = url.indexOf('?');
  const signedPath = question < 0 ? url : url.slice(0, question);
  // `bucket.localhost:4002`, which browsers resolve to this machine.
  const hostBucket = /^(.+)\.localhost(:\d+)?$/.exec(message.headers.host ?? '')?.[1];
  const rawPath = hostBucket === undefined ? signedPath : `/${hostBucket}${signedPath}`;
  const slash = rawPath.indexOf('/', 1);
  const request: S3Request = {
    method: message.method ?? 'GET',
    rawPath,
    signedPath,
    query: question < 0 ? [] : [...new URLSearchParams(url.slice(question + 1))],
    headers: message.headers,
    bucket: decodePath(rawPath.slice(1, slash < 0 ? undefined : slash)),
    key: slash < 0 ? '' : decodePath(rawPath.slice(slash + 1)),
  };
  assertKeyLength(request.key);
  return request;
}

export function parameter(request: Pick<S3Request, 'query'>, name: string): string | undefined {
  return request.query.find(([candidate]) => candidate === name)?.[1];
}

// What fauxqs does not know it takes for the plain operation: a PutObjectTagging would replace the
// object by its tags. So only these pass: an operation, by method and whether a key is named, with
// the parameters that it must have and those that it may.
type Shape = [operation: Operation, method: string, must: string[], may: string[]];

const LIST = ['prefix', 'delimiter', 'max-keys', 'encoding-type'];
const RESPONSE = [
  'response-cache-control',
  'response-content-disposition',
  'response-content-encoding',
  'response-content-language',
  'response-content-type',
  'response-expires',
];

const SERVICE_SHAPES: readonly Shape[] = [['ListBuckets', 'GET', [], []]];
const BUCKET_SHAPES: readonly Shape[] = [
  ['HeadBucket', 'HEAD', [], []],
  ['GetBucketLocation', 'GET', ['location'], []],
  [
    'ListObjectsV2',
    'GET',
    ['list-type'],
    [...LIST, 'start-after', 'continuation-token', 'fetch-owner'],
  ],
  ['ListObjects', 'GET', [], [...LIST, 'marker']],
  ['DeleteObjects', 'POST', ['delete'], []],
  ['PostObject', 'POST', [], []],
];
const OBJECT_SHAPES: readonly Shape[] = [
  ['GetObjectAttributes', 'GET', ['attributes'], []],
  ['GetObject', 'GET', [], ['partNumber', ...RESPONSE]],
  ['HeadObject', 'HEAD', [], ['partNumber', ...RESPONSE]],
  ['UploadPart', 'PUT', ['partNumber', 'uploadId'], []],
  ['PutObject', 'PUT', [], []],
  ['AbortMultipartUpload', 'DELETE', ['uploadId'], []],
  ['DeleteObject', 'DELETE', [], []],
  ['CreateMultipartUpload', 'POST', ['uploads'], []],
  ['CompleteMultipartUpload', 'POST', ['uploadId'], []],
];

/** Headers that change what an operation does and that fauxqs passes over. */
const UNKNOWN_HEADERS =
  /^x-amz-(acl|grant-|tagging|website-redirect|object-lock|server-side-encryption|storage-class|copy-source-(if-|server)|write-offset|if-match-|mfa|bypass)/;
/** Values that ask for what is the case anyway. */
const HARMLESS = ['private', 'bucket-owner-full-control', 'STANDARD', 'AES256'];

/** @throws NotImplemented for everything that the local cloud does not do as S3 does. */
export function operationOf(request: S3Request): Operation {
  const { method, bucket, key, headers } = request;
  const names = request.query
    .map(([name]) => name)
    .filter((name) => name !== 'x-id' && !/^x-amz-/i.test(name));
  const shapes = bucket === '' ? SERVICE_SHAPES : key === '' ? BUCKET_SHAPES : OBJECT_SHAPES;
  const shape = shapes.find(
    ([, candidate, must, may]) =>
      candidate === method &&
      must.every((name) => names.includes(name)) &&
      names.every((name) => must.includes(name) || may.includes(name)),
  );
  const what = `${method} of ${key === '' ? 'a bucket' : 'an object'}`;
  if (shape === undefined) {
    throw notImplemented(names.length === 0 ? what : `${what} with ?${names.join('&')}`);
  }
  for (const [name, value] of Object.entries(headers)) {
    if (UNKNOWN_HEADERS.test(name) && !HARMLESS.includes(String(value))) {
      throw notImplemented(`the header ${name}`);
    }
  }
  const [operation] = shape;
  if (headers['x-amz-copy-source'] === undefined) return operation;
  if (operation === 'PutObject') return 'CopyObject';
  throw notImplemented('x-amz-copy-source but for CopyObject');
}
