import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ACCOUNT } from '../template/intrinsics.ts';
import type { RouteMatch } from './routes.ts';

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const TEXT = /^(text\/|application\/(json|javascript|xml)\b|application\/[\w.+-]+\+(json|xml)\b)/i;

/**
 * The event of payload format 2.0.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function apiEvent(
  request: IncomingMessage,
  body: Buffer,
  apiId: string,
  match: RouteMatch,
  authorizer: object | undefined,
): object {
  const target = request.url ?? '/';
  const question = target.indexOf('?');
  const rawPath = question < 0 ? target : target.slice(0, question);
  const rawQueryString = question < 0 ? '' : target.slice(question + 1);
  const { cookie, ...headers } = request.headers;
  const query = joined([...new URLSearchParams(rawQueryString)]);
  const parameters = match.pathParameters;
  const now = new Date();
  const contentType = request.headers['content-type'];
  // What is not known to be text travels as base64.
  const isText = contentType === undefined || TEXT.test(contentType);
  return {
    version: '2.0',
    routeKey: match.key,
    rawPath,
    rawQueryString,
    ...(cookie === undefined ? {} : { cookies: cookie.split(/;\s*/) }),
    headers: joined(
      Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(',')]),
    ),
    ...(Object.keys(query).length === 0 ? {} : { queryStringParameters: query }),
    ...(Object.keys(parameters).length === 0 ? {} : { pathParameters: parameters }),
    requestContext: {
      accountId: ACCOUNT,
      apiId,
      ...(authorizer === undefined ? {} : { authorizer }),
      domainName: request.headers.host ?? '',
      domainPrefix: apiId,
      http: {
        method: request.method ?? 'GET',
        path: rawPath,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
        userAgent: request.headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: match.key,
      stage: '$default',
      time: commonLogTime(now),
      timeEpoch: now.getTime(),
    },
    ...(body.length === 0 ? {} : { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

/** Repeated names are joined by commas. */
function joined(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of pairs) {
    result[name] = Object.hasOwn(result, name) ? `${result[name]},${value}` : value;
  }
  return result;
}

/** `12/Mar/2026:19:03:58 +0000` */
function commonLogTime(at: Date): string {
  const day = String(at.getUTCDate()).padStart(2, '0');
  return `${day}/${MONTHS[at.getUTCMonth()]}/${at.getUTCFullYear()}:${at.toISOString().slice(11, 19)} +0000`;
}
