import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Credentials } from './signing-key.ts';

/** What of a request is signed. */
export interface SignedRequest {
  method: string;
  url: URL;
  /** By lower-case names; all of them are signed. */
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/**
 * The headers of a request to an HTTP API that asks for AWS credentials, with its signature.
 *
 * @param credentials whose permission to call is asked for.
 */
export async function signRequest(
  credentials: Pick<Credentials, 'accessKeyId' | 'secretAccessKey' | 'sessionToken'>,
  region: string,
  { method, url, headers, body }: SignedRequest,
  at: Date,
): Promise<Record<string, string>> {
  const signer = new SignatureV4({
    credentials,
    region,
    service: 'execute-api',
    sha256: Sha256,
    applyChecksum: false,
  });
  const signed = await signer.sign(
    {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: queryOf(url),
      headers: { host: url.host, ...headers },
      body,
    },
    { signingDate: at, signableHeaders: new Set(Object.keys(headers)) },
  );
  return signed.headers;
}

function queryOf({ searchParams }: URL): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => {
      const values = searchParams.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? '') : values];
    }),
  );
}

/** Node's own, in the form that the signer asks for. */
class Sha256 {
  readonly #secret: string | Uint8Array | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret === undefined || typeof secret === 'string' ? secret : bytesOf(secret);
    this.#hash = this.#begin();
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(typeof data === 'string' ? data : bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#begin();
  }

  #begin(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret);
  }
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
