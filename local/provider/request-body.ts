import type { IncomingMessage } from 'node:http';

export const BODY_LIMIT = 1024 * 1024;

/** Calls back with nothing if it is too large; not at all if the caller leaves. */
export function readBody(request: IncomingMessage, done: (body: Buffer | undefined) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    const fitted = size <= BODY_LIMIT;
    size += chunk.length;
    if (size <= BODY_LIMIT) chunks.push(chunk);
    else if (fitted) done(undefined);
  });
  request.on('end', () => {
    if (size <= BODY_LIMIT) done(Buffer.concat(chunks));
  });
}

/** Undefined if it is not JSON, which never says so itself. */
export function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
