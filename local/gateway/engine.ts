import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { encodeKey } from './object-key.ts';

/** What is asked of fauxqs; keys are encoded on the way. */
export interface EngineRequest {
  method: string;
  bucket: string;
  key?: string;
  query?: Readonly<Record<string, string>>;
  headers?: IncomingHttpHeaders;
  body?: Buffer;
}

export interface EngineAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Engine {
  /** An answer whose body is still to come. */
  open(wanted: EngineRequest): Promise<IncomingMessage>;
  /** An answer with its body. */
  call(wanted: EngineRequest): Promise<EngineAnswer>;
}

// Not `fetch`, which would unpack what is stored with a content-encoding.
export function createEngine(endpoint: string): Engine {
  const agent = new Agent({ keepAlive: true });
  const open = ({ method, bucket, key, query, headers, body }: EngineRequest) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const search = new URLSearchParams(query).toString();
      const path = `/${bucket}${key === undefined ? '' : `/${encodeKey(key)}`}`;
      const outgoing = request(endpoint + path + (search === '' ? '' : `?${search}`), {
        method,
        agent,
        headers: { ...headers, 'content-length': body?.length ?? 0 },
      });
      outgoing.once('response', resolve).once('error', reject).end(body);
    });
  return {
    open,
    async call(wanted) {
      const answer = await open(wanted);
      const body = await buffer(answer);
      return { status: answer.statusCode ?? 500, headers: answer.headers, body };
    },
  };
}

/** The body of an engine's answer. Where whoever asked has left, its connection would wait to be read for ever. */
export async function passOn(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  if (response.destroyed) answer.destroy();
  else await pipeline(answer, response);
}
