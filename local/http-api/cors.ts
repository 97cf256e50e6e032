import type { IncomingMessage } from 'node:http';
import type { ApiCors } from '../template/resources.ts';

/** The headers that API Gateway adds to an answer; none to a page that is not allowed. */
export function corsHeaders(
  cors: ApiCors | undefined,
  origin: string | undefined,
): Record<string, string> {
  const allowed = allowedOrigin(cors, origin);
  if (cors === undefined || allowed === undefined) return {};
  return {
    'access-control-allow-origin': allowed,
    ...(allowed === '*' ? {} : { vary: 'origin' }),
    ...(cors.AllowCredentials ? { 'access-control-allow-credentials': 'true' } : {}),
    ...(cors.ExposeHeaders.length === 0
      ? {}
      : { 'access-control-expose-headers': cors.ExposeHeaders.join(',') }),
  };
}

/** Whether API Gateway answers this itself: with CORS configured, it answers every preflight. */
export function isPreflight(request: IncomingMessage): boolean {
  const { origin } = request.headers;
  const asks = request.headers['access-control-request-method'];
  return request.method === 'OPTIONS' && origin !== undefined && asks !== undefined;
}

export function preflightHeaders(
  cors: ApiCors,
  origin: string | undefined,
): Record<string, string> {
  const headers = corsHeaders(cors, origin);
  if (Object.keys(headers).length === 0) return {};
  return {
    ...headers,
    'access-control-allow-methods': cors.AllowMethods.join(','),
    'access-control-allow-headers': cors.AllowHeaders.join(','),
    ...(cors.MaxAge === undefined ? {} : { 'access-control-max-age': String(cors.MaxAge) }),
  };
}

function allowedOrigin(cors: ApiCors | undefined, origin: string | undefined): string | undefined {
  if (cors === undefined || origin === undefined) return undefined;
  if (cors.AllowOrigins.includes('*')) return '*';
  return cors.AllowOrigins.find((allowed) => allowed.toLowerCase() === origin.toLowerCase());
}
