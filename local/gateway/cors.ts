import type { IncomingHttpHeaders } from 'node:http';
import type { CorsRule } from '../template/resources.ts';
import { S3Error } from './s3-error.ts';

/** The headers by which S3 lets a page of another origin read an answer; none without a rule for it. */
export function corsHeaders(
  rules: readonly CorsRule[],
  headers: IncomingHttpHeaders,
  method: string,
): Record<string, string> {
  const { origin } = headers;
  if (origin === undefined) return {};
  const rule = rules.find((candidate) => allows(candidate, origin, method, []));
  return rule === undefined ? {} : headersOf(rule, origin);
}

/** @throws S3Error if no rule allows what the page is about to ask. */
export function preflightHeaders(
  rules: readonly CorsRule[],
  headers: IncomingHttpHeaders,
): Record<string, string> {
  const { origin = '' } = headers;
  const method = headers['access-control-request-method'] ?? '';
  const asked = (headers['access-control-request-headers'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  if (origin === '' || method === '') {
    throw new S3Error(400, 'BadRequest', 'Insufficient information. Origin request header needed.');
  }
  const rule = rules.find((candidate) => allows(candidate, origin, method, asked));
  if (rule === undefined) {
    const message =
      "CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.";
    throw new S3Error(403, 'AccessForbidden', message, { Method: method, ResourceType: 'BUCKET' });
  }
  return {
    ...headersOf(rule, origin),
    ...(asked.length === 0 ? {} : { 'access-control-allow-headers': asked.join(', ') }),
  };
}

function headersOf(rule: CorsRule, origin: string): Record<string, string> {
  const everyone = rule.AllowedOrigins.includes('*');
  return {
    'access-control-allow-origin': everyone ? '*' : origin,
    ...(everyone ? {} : { 'access-control-allow-credentials': 'true' }),
    'access-control-allow-methods': rule.AllowedMethods.join(', '),
    ...(rule.ExposedHeaders.length === 0
      ? {}
      : { 'access-control-expose-headers': rule.ExposedHeaders.join(', ') }),
    ...(rule.MaxAge === undefined ? {} : { 'access-control-max-age': String(rule.MaxAge) }),
    vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
  };
}

function allows(
  rule: CorsRule,
  origin: string,
  method: string,
  headers: readonly string[],
): boolean {
  return (
    rule.AllowedMethods.includes(method) &&
    rule.AllowedOrigins.some((pattern) => matches(pattern, origin)) &&
    headers.every((name) =>
      rule.AllowedHeaders.some((pattern) => matches(pattern.toLowerCase(), name)),
    )
  );
}

/** A pattern may hold one `*`. */
function matches(pattern: string, text: string): boolean {
  const [before = '', after] = pattern.split('*');
  if (after === undefined) return pattern === text;
  return (
    text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after)
  );
}
