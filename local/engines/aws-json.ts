import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

// SQS and DynamoDB both speak "AWS JSON 1.0": a POST with the operation in a header. Spoken here
// directly, because loading two SDK clients would cost every start half a second.

const errorSchema = z.looseObject({
  __type: z.string().default('UnknownError'),
  message: z.string().optional(),
  Message: z.string().optional(),
});

export class AwsJsonError extends Error {
  /** Such as `ResourceInUseException`. */
  readonly code: string;

  constructor(operation: string, code: string, message: string) {
    super(`${operation}: ${code}: ${message}`);
    this.name = 'AwsJsonError';
    this.code = code;
  }
}

/** Neither engine verifies signatures, but dynoxide insists that there is one. */
const unverified = (service: string) => ({
  'content-type': 'application/x-amz-json-1.0',
  authorization: `AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=0`,
  'x-amz-date': '20260101T000000Z',
});
export const ENGINE_HEADERS = { sqs: unverified('sqs'), dynamodb: unverified('dynamodb') };

/** Calls one operation, such as `AmazonSQS.SendMessage`. */
export type AwsJson = (operation: string, input: object, signal?: AbortSignal) => Promise<unknown>;

export function createAwsJson(endpoint: string): AwsJson {
  const post = createPost(endpoint);
  return async (operation, input, signal) => {
    const { status, body } = await post(operation, input, signal);
    if (status < 300) return body;
    const { __type, message, Message } = errorSchema.parse(body);
    const said = message ?? Message ?? JSON.stringify(body);
    throw new AwsJsonError(operation, __type.replace(/^.*#/, ''), said);
  };
}

export interface PostAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Calls one operation, and answers whatever comes of it. */
export type Post = (operation: string, input: object, signal?: AbortSignal) => Promise<PostAnswer>;

/** Not by `fetch`, which takes three times as much of the processor. */
export function createPost(endpoint: string): Post {
  const agent = new Agent({ keepAlive: true });
  return async (operation, input, signal) => {
    const service = operation.startsWith('AmazonSQS.') ? 'sqs' : 'dynamodb';
    const sent = Buffer.from(JSON.stringify(input));
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const headers = {
      ...ENGINE_HEADERS[service],
      'x-amz-target': operation,
      'content-length': sent.length,
    };
    request(endpoint, { method: 'POST', agent, headers, ...(signal ? { signal } : {}) })
      .once('response', resolve)
      .on('error', reject)
      .end(sent);
    const answer = await promise;
    const received = await text(answer);
    const body: unknown = received === '' ? {} : JSON.parse(received);
    return { status: answer.statusCode ?? 500, headers: answer.headers, body };
  };
}
