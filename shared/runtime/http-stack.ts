import type { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import * as z from 'zod';
import { GlimpseError, InvalidRequestError, TooManyRequestsError } from '../errors.ts';
import { type Measured, publishMetrics } from './metrics.ts';

export interface HttpRequest {
  /** Decoded once, here: `+` first, then `%`. */
  query: Record<string, string>;
  /** What stands in the path for `{id}`, by that name. API Gateway has decoded it. */
  path: Readonly<Record<string, string | undefined>>;
  /** By lower-case names. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Parsed JSON; undefined where there was none. */
  body: unknown;
  /** Who API Gateway's authorizer says it is. */
  identity: HttpIdentity;
}

export type HttpIdentity =
  | { kind: 'jwt'; claims: Record<string, string> }
  | { kind: 'iam'; accountId: string; callerId: string }
  /** By a route without an authorizer. */
  | { kind: 'none'; sourceIp: string };

export interface HttpAnswer {
  status: number;
  headers?: Record<string, string>;
  /** An object goes out as JSON, a buffer as it is. */
  body?: object | Buffer;
}

/** Routes by the template's own names, `GET /images`. */
export type Routes = Record<string, (request: HttpRequest) => Promise<HttpAnswer>>;

/** Characters of a path that an error repeats. */
const MOST_PATH = 200;

const STATUS_BY_CODE: Record<string, number> = {
  'not-found': 404,
  unauthenticated: 401,
  forbidden: 403,
  conflict: 409,
  'over-budget': 409,
  'upload-too-large': 413,
  'too-many-requests': 429,
};

/** What a browser asks without a token before it sends one. API Gateway adds what it is told. */
const PREFLIGHT = 'OPTIONS /{proxy+}';

export function httpHandler(
  routes: Routes,
  { logger, metrics }: { logger: Logger; metrics: Measured },
) {
  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(injectLambdaContext(logger))
    .use(publishMetrics(metrics))
    .handler(async (event) => {
      if (event.routeKey === PREFLIGHT) return { statusCode: 204 };
      try {
        const route = routes[event.routeKey];
        if (route === undefined) return fail(404, 'not-found', `there is no ${askedFor(event)}`);
        return translate(
          await route({
            query: parseQuery(event.rawQueryString),
            path: event.pathParameters ?? {},
            headers: event.headers,
            body: parseBody(event),
            identity: identityOf(event),
          }),
        );
      } catch (error) {
        if (error instanceof GlimpseError && error.blame === 'caller') {
          return fail(
            STATUS_BY_CODE[error.code] ?? 400,
            error.code,
            error.message,
            error instanceof TooManyRequestsError
              ? { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) }
              : {},
          );
        }
        logger.error('the request failed', { error, route: event.routeKey, ...aboutOf(event) });
        return fail(500, 'internal', 'internal error');
      }
    });
}

/** Of what a request names, the images and the import: the rest may be text of a catalogue. */
function aboutOf({ pathParameters, rawQueryString }: APIGatewayProxyEventV2): object {
  const { image, gallery } = parseQuery(rawQueryString);
  return {
    ...(pathParameters?.id === undefined ? {} : { importId: pathParameters.id }),
    ...(image === undefined ? {} : { image }),
    ...(gallery === undefined ? {} : { gallery }),
  };
}

/** What came by the route that takes all that no other does. */
function askedFor({ requestContext: { http } }: APIGatewayProxyEventV2): string {
  return `${http.method} ${http.path.slice(0, MOST_PATH)}`;
}

/** API Gateway's own parsing joins repeated parameters with a comma, which keys may contain. */
export function parseQuery(raw: string): Record<string, string> {
  // Without a prototype, so that a parameter named __proto__ is one like any other.
  const query: Record<string, string> = Object.create(null);
  for (const pair of raw.split('&').filter((part) => part !== '')) {
    const cut = pair.includes('=') ? pair.indexOf('=') : pair.length;
    const name = decode(pair.slice(0, cut));
    if (Object.hasOwn(query, name)) {
      throw new InvalidRequestError(`query: expected ${name} once, got it again`);
    }
    query[name] = decode(pair.slice(cut + 1));
  }
  return query;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw new InvalidRequestError(
      `query: expected percent-encoded UTF-8, got ${JSON.stringify(text.slice(0, 80))}`,
      { cause },
    );
  }
}

function parseBody({ body, isBase64Encoded }: APIGatewayProxyEventV2): unknown {
  if (body === undefined) return undefined;
  const text = isBase64Encoded ? Buffer.from(body, 'base64').toString('utf8') : body;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InvalidRequestError(`body: expected JSON, got ${JSON.stringify(text.slice(0, 80))}`, {
      cause,
    });
  }
}

function translate({ status, headers = {}, body }: HttpAnswer): APIGatewayProxyStructuredResultV2 {
  if (body === undefined) return { statusCode: status, headers };
  if (Buffer.isBuffer(body)) {
    return { statusCode: status, headers, body: body.toString('base64'), isBase64Encoded: true };
  }
  return {
    statusCode: status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(body),
  };
}

function fail(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): APIGatewayProxyStructuredResultV2 {
  return translate({ status, headers, body: { error: { code, message } } });
}

const contextSchema = z.object({
  http: z.object({ sourceIp: z.string().default('') }).optional(),
  authorizer: z
    .object({
      jwt: z.object({ claims: z.record(z.string(), z.string()) }).optional(),
      iam: z.object({ accountId: z.string(), callerId: z.string() }).optional(),
    })
    .nullish(),
});

function identityOf(event: { requestContext?: unknown }): HttpIdentity {
  const { http, authorizer } = contextSchema.parse(event.requestContext ?? {});
  if (authorizer?.jwt !== undefined) return { kind: 'jwt', claims: authorizer.jwt.claims };
  if (authorizer?.iam !== undefined) return { kind: 'iam', ...authorizer.iam };
  return { kind: 'none', sourceIp: http?.sourceIp ?? '' };
}
