import { describe, expect, test } from 'vitest';
import { corsHeaders, preflightHeaders } from '../../../../local/gateway/cors.ts';
import type { CorsRule } from '../../../../local/template/resources.ts';

const SHOP = 'https://shop.example';

const rule = (more: Partial<CorsRule> = {}): CorsRule => ({
  AllowedMethods: ['GET'],
  AllowedOrigins: [SHOP],
  AllowedHeaders: [],
  ExposedHeaders: [],
  ...more,
});

/** Whom a page of this origin that asks so is let in as; undefined if it is not. */
function preflight(
  rules: readonly CorsRule[],
  asked: { origin?: string; method?: string; headers?: string },
): Record<string, string> | undefined {
  const { origin = SHOP, method = 'GET', headers } = asked;
  try {
    return preflightHeaders(rules, {
      origin,
      'access-control-request-method': method,
      ...(headers === undefined ? {} : { 'access-control-request-headers': headers }),
    });
  } catch (error) {
    expect(error).toMatchObject({ status: 403, code: 'AccessForbidden' });
    return undefined;
  }
}

describe('each part of a rule decides by itself who is let in', () => {
  test.each([
    [true, 'its origin', rule(), {}],
    [false, 'another origin', rule(), { origin: 'https://other.example' }],
    [false, 'its origin on another port', rule(), { origin: `${SHOP}:8443` }],
    [false, 'its host without TLS', rule(), { origin: 'http://shop.example' }],
    [true, 'any origin, if it says so', rule({ AllowedOrigins: ['*'] }), { origin: 'null' }],
    [
      true,
      'a host below a pattern',
      rule({ AllowedOrigins: ['https://*.example'] }),
      { origin: 'https://a.b.example' },
    ],
    [
      false,
      'a host that only ends like it',
      rule({ AllowedOrigins: ['https://*.shop.example'] }),
      { origin: 'https://notshop.example' },
    ],
    [
      false,
      'the pattern itself in fewer letters',
      rule({ AllowedOrigins: ['https://shop*shop.example'] }),
      { origin: 'https://shop.example' },
    ],
    [true, 'one of its methods', rule({ AllowedMethods: ['PUT', 'HEAD'] }), { method: 'HEAD' }],
    [false, 'another method', rule(), { method: 'PUT' }],
    [false, 'a method in small letters', rule(), { method: 'get' }],
    [false, 'a header of which it says nothing', rule(), { headers: 'x-one' }],
    [
      true,
      'its headers, however they are written',
      rule({ AllowedHeaders: ['X-One', 'x-amz-*'] }),
      { headers: 'x-ONE, X-Amz-Date' },
    ],
    [
      false,
      'one header too many',
      rule({ AllowedHeaders: ['x-one'] }),
      { headers: 'x-one, x-two' },
    ],
    [true, 'all headers, if it says so', rule({ AllowedHeaders: ['*'] }), { headers: 'a,b' }],
  ] as const)('%s: %s', (allowed, _what, one, asked) => {
    expect(preflight([one], asked) !== undefined).toBe(allowed);
  });

  test('a bucket without rules lets nobody in', () => {
    expect(preflight([], {})).toBeUndefined();
    expect(corsHeaders([], { origin: SHOP }, 'GET')).toEqual({});
  });

  test('a preflight without an origin or a method is no preflight', () => {
    const asked = { 'access-control-request-method': 'GET' };
    expect(() => preflightHeaders([rule()], asked)).toThrow('Insufficient information');
    expect(() => preflightHeaders([rule()], { origin: SHOP })).toThrow('Insufficient information');
  });
});

describe('the answer', () => {
  test('is of the first rule that fits', () => {
    const rules = [rule({ AllowedMethods: ['PUT'], MaxAge: 1 }), rule({ MaxAge: 2 })];
    expect(preflight(rules, {})?.['access-control-max-age']).toBe('2');
    rules.unshift(rule({ MaxAge: 3 }));
    expect(preflight(rules, {})?.['access-control-max-age']).toBe('3');
  });

  test('names the origin that asked, or everyone where everyone may', () => {
    expect(corsHeaders([rule()], { origin: SHOP }, 'GET')).toMatchObject({
      'access-control-allow-origin': SHOP,
      'access-control-allow-credentials': 'true',
    });
    const open = corsHeaders([rule({ AllowedOrigins: ['*'] })], { origin: SHOP }, 'GET');
    expect(open['access-control-allow-origin']).toBe('*');
    expect(open).not.toHaveProperty('access-control-allow-credentials');
  });

  test('lets a page read the headers that the rule exposes, and no others', () => {
    const exposed = 'access-control-expose-headers';
    const read = (names: string[]) =>
      corsHeaders([rule({ ExposedHeaders: names })], { origin: SHOP }, 'GET')[exposed];
    expect(read(['etag', 'x-amz-meta-a'])).toBe('etag, x-amz-meta-a');
    expect(read([])).toBeUndefined();
  });

  test('says nothing to a request of no page, and to one that no rule allows', () => {
    expect(corsHeaders([rule()], {}, 'GET')).toEqual({});
    expect(corsHeaders([rule()], { origin: SHOP }, 'DELETE')).toEqual({});
  });

  test('is not kept for another origin', () => {
    expect(corsHeaders([rule()], { origin: SHOP }, 'GET').vary).toContain('Origin');
  });
});
