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
  return async (operation, input, signal) => {
    const service = operation.startsWith('AmazonSQS.') ? 'sqs' : 'dynamodb';
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        ...ENGINE_HEADERS[service],
        'x-amz-target': operation,
      },
      body: JSON.stringify(input),
      ...(signal ? { signal } : {}),
    });
    const text = await response.text();
    const body: unknown = text === '' ? {} : JSON.parse(text);
    if (response.ok) return body;
    const { __type, message, Message } = errorSchema.parse(body);
    throw new AwsJsonError(operation, __type.replace(/^.*#/, ''), message ?? Message ?? text);
  };
}
