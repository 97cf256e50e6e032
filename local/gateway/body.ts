import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { crc32 } from 'node:zlib';
import { dechunk } from './chunked-body.ts';
import { S3Error } from './s3-error.ts';

export interface Body {
  /** Bytes of the object, as announced. */
  readonly size: number;
  /** The bytes, once. Throws in the end if they are not those that were announced or signed. */
  readonly chunks: AsyncIterable<Buffer>;
  /** Checksums that came after the bytes; complete once these are read. */
  readonly trailers: Readonly<Record<string, string>>;
}

export function bodyOf(message: IncomingMessage): Body {
  const { headers } = message;
  const payload = String(headers['x-amz-content-sha256'] ?? '');
  const chunked = payload.startsWith('STREAMING-');
  const announced = chunked ? headers['x-amz-decoded-content-length'] : headers['content-length'];
  if (announced === undefined) {
    throw new S3Error(
      411,
      'MissingContentLength',
      'You must provide the Content-Length HTTP header.',
    );
  }
  const size = Number(announced);
  const trailers: Record<string, string> = {};
  const plain = chunked ? dechunk(message, trailers) : message;
  return { size, trailers, chunks: verified(plain, size, headers, trailers) };
}

/** The digests that a client may announce, in a header or a trailer, and how they are computed. */
const DIGESTS: Readonly<Record<string, () => Digest>> = {
  'content-md5': () => digestBy('md5'),
  'x-amz-checksum-sha256': () => digestBy('sha256'),
  'x-amz-checksum-sha1': () => digestBy('sha1'),
  'x-amz-checksum-crc32': digestByCrc32,
};

interface Digest {
  update(chunk: Buffer): unknown;
  digest(): Buffer;
}

async function* verified(
  chunks: AsyncIterable<Buffer>,
  size: number,
  headers: IncomingHttpHeaders,
  trailers: Readonly<Record<string, string>>,
): AsyncIterable<Buffer> {
  const announced = String(headers['x-amz-trailer'] ?? '').toLowerCase();
  const digests = Object.entries(DIGESTS)
    .filter(([name]) => headers[name] !== undefined || announced.includes(name))
    .map(([name, create]) => ({ name, digest: create() }));
  const signed = String(headers['x-amz-content-sha256'] ?? '');
  const payload = /^[0-9a-f]{64}$/.test(signed) ? createHash('sha256') : undefined;
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    payload?.update(chunk);
    for (const { digest } of digests) digest.update(chunk);
    yield chunk;
  }
  if (length !== size) {
    const message =
      'You did not provide the number of bytes specified by the Content-Length HTTP header';
    throw new S3Error(400, 'IncompleteBody', message);
  }
  if (payload !== undefined && payload.digest('hex') !== signed) {
    const message = "The provided 'x-amz-content-sha256' header does not match what was computed.";
    throw new S3Error(400, 'XAmzContentSHA256Mismatch', message);
  }
  for (const { name, digest } of digests)
    verify(name, { ...headers, ...trailers }, digest.digest());
}

function verify(name: string, given: IncomingHttpHeaders, computed: Buffer): void {
  const expected = Buffer.from(String(given[name] ?? ''), 'base64');
  if (expected.length === computed.length && timingSafeEqual(expected, computed)) return;
  throw new S3Error(400, 'BadDigest', `The ${name} you specified did not match what was received.`);
}

function digestBy(algorithm: string): Digest {
  return createHash(algorithm);
}

function digestByCrc32(): Digest {
  let crc = 0;
  return {
    update(chunk) {
      crc = crc32(chunk, crc);
    },
    digest() {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(crc);
      return bytes;
    },
  };
}
