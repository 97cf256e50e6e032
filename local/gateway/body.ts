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

async function* verified(
  chunks: AsyncIterable<Buffer>,
  size: number,
  headers: IncomingHttpHeaders,
  trailers: Readonly<Record<string, string>>,
): AsyncIterable<Buffer> {
  const hashes = { sha256: createHash('sha256'), sha1: createHash('sha1'), md5: createHash('md5') };
  let crc = 0;
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    for (const hash of Object.values(hashes)) hash.update(chunk);
    crc = crc32(chunk, crc);
    yield chunk;
  }
  if (length !== size) {
    const message =
      'You did not provide the number of bytes specified by the Content-Length HTTP header';
    throw new S3Error(400, 'IncompleteBody', message);
  }
  const [sha256, sha1, md5] = [hashes.sha256, hashes.sha1, hashes.md5].map((hash) => hash.digest());
  const signed = String(headers['x-amz-content-sha256'] ?? '');
  if (/^[0-9a-f]{64}$/.test(signed) && signed !== sha256?.toString('hex')) {
    const message = "The provided 'x-amz-content-sha256' header does not match what was computed.";
    throw new S3Error(400, 'XAmzContentSHA256Mismatch', message);
  }
  const crcBytes = Buffer.alloc(4);
  crcBytes.writeUInt32BE(crc);
  const given = { ...headers, ...trailers };
  verify('content-md5', given, md5);
  verify('x-amz-checksum-sha256', given, sha256);
  verify('x-amz-checksum-sha1', given, sha1);
  verify('x-amz-checksum-crc32', given, crcBytes);
}

function verify(name: string, given: IncomingHttpHeaders, computed: Buffer | undefined): void {
  const value = given[name];
  if (typeof value !== 'string' || computed === undefined) return;
  const expected = Buffer.from(value, 'base64');
  if (expected.length === computed.length && timingSafeEqual(expected, computed)) return;
  throw new S3Error(400, 'BadDigest', `The ${name} you specified did not match what was received.`);
}
