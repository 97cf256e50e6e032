import { z } from 'zod';
import type { Invoked } from '../functions/pool.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer;
}

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const proxyAnswer = z.looseObject({
  statusCode: z.coerce.number().int().min(100).max(599),
  headers: z.record(z.string(), scalar).nullish(),
  cookies: z.array(z.string()).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

/** API Gateway's own answers. */
export function plainAnswer(status: number, message: string): Answer {
  return jsonAnswer(status, JSON.stringify({ message }));
}

/** A function's result as a response, by the rules of payload format 2.0. */
export function answerOf(invoked: Invoked): Answer {
  if (invoked.kind === 'throttled') return plainAnswer(503, 'Service Unavailable');
  if (invoked.kind === 'error') {
    return invoked.error.errorType === 'Sandbox.Timedout'
      ? plainAnswer(503, 'Service Unavailable')
      : plainAnswer(500, 'Internal Server Error');
  }
  const result: unknown = JSON.parse(invoked.payload);
  const isProxyAnswer = typeof result === 'object' && result !== null && 'statusCode' in result;
  // Without a status the result itself is the body.
  if (!isProxyAnswer) {
    return jsonAnswer(200, typeof result === 'string' ? result : invoked.payload);
  }
  const parsed = proxyAnswer.safeParse(result);
  if (!parsed.success) return plainAnswer(500, 'Internal Server Error');
  const { statusCode, headers, cookies, body, isBase64Encoded } = parsed.data;
  const lowered = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    status: statusCode,
    headers: {
      'content-type': 'text/plain;charset=UTF-8',
      ...Object.fromEntries(lowered),
      ...(cookies == null || cookies.length === 0 ? {} : { 'set-cookie': cookies }),
    },
    body: Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8'),
  };
}

function jsonAnswer(status: number, body: string): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(body) };
}
