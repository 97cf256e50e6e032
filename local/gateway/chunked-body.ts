import { S3Error } from './s3-error.ts';

const CRLF = '\r\n';

/**
 * Takes `aws-chunked` apart: `<hex size>[;chunk-signature=…] CRLF <bytes> CRLF`, until a size of zero,
 * then trailers. https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
 *
 * @param trailers filled, by lower-case name, after the last bytes.
 */
export async function* dechunk(
  source: AsyncIterable<Buffer>,
  trailers: Record<string, string>,
): AsyncIterable<Buffer> {
  const reader = createReader(source);
  for (;;) {
    const header = await reader.line();
    const size = Number.parseInt(header, 16);
    if (!Number.isInteger(size)) throw malformed();
    if (size === 0) break;
    yield* reader.bytes(size);
    if ((await reader.line()) !== '') throw malformed();
  }
  for (let line = await reader.line(); line !== ''; line = await reader.line()) {
    const colon = line.indexOf(':');
    if (colon > 0)
      trailers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
  }
}

function malformed(): S3Error {
  return new S3Error(400, 'IncompleteBody', 'The request body terminated unexpectedly.');
}

function createReader(source: AsyncIterable<Buffer>) {
  const iterator = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const more = async () => {
    const { value, done } = await iterator.next();
    if (!done) rest = rest.length === 0 ? value : Buffer.concat([rest, value]);
    return !done;
  };
  return {
    /** Up to a line's end; what is left at the end of it all counts as a line. */
    async line(): Promise<string> {
      let end = rest.indexOf(CRLF);
      while (end < 0 && (await more())) end = rest.indexOf(CRLF);
      const line = rest.subarray(0, end < 0 ? rest.length : end).toString('latin1');
      rest = rest.subarray(end < 0 ? rest.length : end + CRLF.length);
      return line;
    },
    async *bytes(count: number): AsyncIterable<Buffer> {
      for (let left = count; left > 0; ) {
        if (rest.length === 0 && !(await more())) throw malformed();
        const piece = rest.subarray(0, left);
        rest = rest.subarray(piece.length);
        left -= piece.length;
        yield piece;
      }
    },
  };
}
