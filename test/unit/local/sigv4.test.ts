import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { dechunk } from '../../../local/gateway/chunked-body.ts';
import type { S3Request } from '../../../local/gateway/operation.ts';
import { S3Error } from '../../../local/gateway/s3-error.ts';
import { createVerifier } from '../../../local/gateway/sigv4.ts';

// The examples that AWS publishes, by keys that it publishes with them.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html

const KEYS = {
  accessKeyId: ['AKIA', 'IOSFODNN7EXAMPLE'].join(''),
  secretAccessKey: ['wJalrXUtnFEMI/K7MDENG', 'bPxRfiCYEXAMPLEKEY'].join('/'),
};
const verifier = createVerifier([KEYS]);
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const AT = new Date('2013-05-24T00:00:00Z');

function request(overrides: Partial<S3Request>): S3Request {
  const base = { method: 'GET', rawPath: '', signedPath: '/', query: [], bucket: 'b', key: 'k' };
  return { ...base, headers: {}, ...overrides };
}

const signed = (signedHeaders: string, signature: string) =>
  `AWS4-HMAC-SHA256 Credential=${KEYS.accessKeyId}/20130524/us-east-1/s3/aws4_request,SignedHeaders=${signedHeaders},Signature=${signature}`;

const getObject = request({
  signedPath: '/test.txt',
  headers: {
    host: 'examplebucket.s3.amazonaws.com',
    range: 'bytes=0-9',
    'x-amz-content-sha256': EMPTY,
    'x-amz-date': '20130524T000000Z',
    authorization: signed(
      'host;range;x-amz-content-sha256;x-amz-date',
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ),
  },
});

const presigned = (changes: Record<string, string> = {}) =>
  request({
    signedPath: '/test.txt',
    headers: { host: 'examplebucket.s3.amazonaws.com' },
    query: Object.entries({
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': `${KEYS.accessKeyId}/20130524/us-east-1/s3/aws4_request`,
      'X-Amz-Date': '20130524T000000Z',
      'X-Amz-Expires': '86400',
      'X-Amz-SignedHeaders': 'host',
      'X-Amz-Signature': 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
      ...changes,
    }),
  });

function refusal(candidate: S3Request, now = AT): string {
  try {
    verifier.verify(candidate, now);
  } catch (error) {
    if (error instanceof S3Error) return `${error.status} ${error.code}: ${error.message}`;
    throw error;
  }
  return 'none';
}

describe("AWS's examples are verified", () => {
  test('GetObject', () => {
    expect(verifier.verify(getObject, AT)).toBe(KEYS.accessKeyId);
  });

  test('PutObject, whose path holds a dollar sign', () => {
    const put = request({
      method: 'PUT',
      signedPath: '/test%24file.text',
      headers: {
        host: 'examplebucket.s3.amazonaws.com',
        date: 'Fri, 24 May 2013 00:00:00 GMT',
        'x-amz-date': '20130524T000000Z',
        'x-amz-storage-class': 'REDUCED_REDUNDANCY',
        'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
        authorization: signed(
          'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
          '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
        ),
      },
    });
    expect(verifier.verify(put, AT)).toBe(KEYS.accessKeyId);
    // Some clients do not encode what they might.
    expect(verifier.verify({ ...put, signedPath: '/test$file.text' }, AT)).toBe(KEYS.accessKeyId);
  });

  test('GetBucketLifecycle, whose parameter has no value', () => {
    const get = request({
      query: [['lifecycle', '']],
      headers: {
        host: 'examplebucket.s3.amazonaws.com',
        'x-amz-date': '20130524T000000Z',
        'x-amz-content-sha256': EMPTY,
        authorization: signed(
          'host;x-amz-content-sha256;x-amz-date',
          'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
        ),
      },
    });
    expect(verifier.verify(get, AT)).toBe(KEYS.accessKeyId);
  });

  test('a presigned URL', () => {
    expect(verifier.verify(presigned(), AT)).toBe(KEYS.accessKeyId);
  });
});

test('nobody signed what has no signature', () => {
  expect(verifier.verify(request({}), AT)).toBeUndefined();
});

test('a change of anything that was signed is refused', () => {
  for (const change of [
    { method: 'HEAD' },
    { signedPath: '/test.txt2' },
    { query: [['list-type', '2']] as const },
    { headers: { ...getObject.headers, range: 'bytes=0-10' } },
    { headers: { ...getObject.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } },
    { headers: { ...getObject.headers, host: 'other.s3.amazonaws.com' } },
  ]) {
    expect(refusal({ ...getObject, ...change })).toContain('403 SignatureDoesNotMatch');
  }
});

test('a header of S3 that was slipped in is refused', () => {
  const headers = { ...getObject.headers, 'x-amz-copy-source': '/other/secret' };
  expect(refusal({ ...getObject, headers })).toContain('not signed');
});

test('a clock that is a quarter of an hour off is refused, one that is a little off is not', () => {
  const minutes = (count: number) => new Date(AT.getTime() + count * 60_000);
  expect(refusal(getObject, minutes(16))).toContain('403 RequestTimeTooSkewed');
  expect(refusal(getObject, minutes(-16))).toContain('403 RequestTimeTooSkewed');
  expect(refusal(getObject, minutes(14))).toBe('none');
});

test('a presigned URL is good to its last second, for a week at most', () => {
  const seconds = (count: number) => new Date(AT.getTime() + count * 1000);
  expect(refusal(presigned(), seconds(86_399))).toBe('none');
  expect(refusal(presigned(), seconds(86_400))).toBe('403 AccessDenied: Request has expired');
  expect(refusal(presigned({ 'X-Amz-Expires': '604801' }))).toContain('400 Authorization');
  expect(refusal(presigned({ 'X-Amz-Credential': 'nonsense' }))).toContain('400 Authorization');
  expect(refusal(presigned({ 'X-Amz-SignedHeaders': 'range' }))).toContain('host must be signed');
  expect(refusal(presigned({ 'X-Amz-Security-Token': 'x' }))).toContain('400 InvalidToken');
});

describe('a chunked body', () => {
  const take = async (text: string, size: number) => {
    const bytes = Buffer.from(text);
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    const trailers: Record<string, string> = {};
    let body = '';
    for await (const chunk of dechunk(Readable.from(pieces), trailers)) body += chunk;
    return { body, trailers };
  };

  test.each([1, 3, 7, 1000])('is taken apart however it is cut, in pieces of %i', async (size) => {
    const text =
      '5;chunk-signature=ab\r\nhello\r\n7\r\n, wor\r\n\r\n0\r\nX-Amz-Checksum-CRC32:abc=\r\n\r\n';
    expect(await take(text, size)).toEqual({
      body: 'hello, wor\r\n',
      trailers: { 'x-amz-checksum-crc32': 'abc=' },
    });
  });

  test.each(['5\r\nhel', 'zz\r\n', '5\r\nhello!\r\n0\r\n\r\n'])(
    'is refused if it is %j',
    async (text) => {
      await expect(take(text, 1000)).rejects.toThrow('terminated unexpectedly');
    },
  );
});
