import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ConflictError,
  InvalidRequestError,
  NotFoundError,
  OverBudgetError,
  UploadTooLargeError,
} from '../../../../shared/errors.ts';
import { httpHandler, parseQuery, type Routes } from '../../../../shared/runtime/http-stack.ts';

const logger = new Logger({ logLevel: 'SILENT' });
const metrics = new Metrics({ namespace: 'test', serviceName: 'test' });

const requestContext = { http: { method: 'GET', path: '/it' } };

async function ask(routes: Routes, event: Partial<APIGatewayProxyEventV2>) {
  const handler = httpHandler(routes, { logger, metrics });
  const full = {
    routeKey: 'GET /it',
    requestContext,
    rawQueryString: '',
    isBase64Encoded: false,
    ...event,
  };
  return await handler(
    full as unknown as APIGatewayProxyEventV2,
    { awsRequestId: 'id' } as Context,
  );
}

describe('a query', () => {
  test('gives back every text that a browser sends', () => {
    const texts = fc.dictionary(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.string({ unit: 'grapheme' }),
    );
    fc.assert(
      fc.property(texts, (query) => {
        expect({ ...parseQuery(new URLSearchParams(query).toString()) }).toEqual({ ...query });
      }),
    );
  });

  test('is decoded once, the plus first', () => {
    expect({ ...parseQuery('image=a%2Bb+c%2525.png') }).toEqual({ image: 'a+b c%25.png' });
    expect(Object.keys(parseQuery('__proto__=x'))).toEqual(['__proto__']);
  });

  test.each([
    ['a=%zz', 'expected percent-encoded UTF-8, got "%zz"'],
    ['a=%ff', 'expected percent-encoded UTF-8, got "%ff"'],
    ['a=1&a=2', 'expected a once, got it again'],
  ])('%s is refused', (raw, reason) => {
    expect(() => parseQuery(raw)).toThrow(InvalidRequestError);
    expect(() => parseQuery(raw)).toThrow(reason);
  });

  test('may name what every object has', () => {
    expect(parseQuery('__proto__=1&toString=2')).toMatchObject({ toString: '2' });
  });
});

describe('an error', () => {
  const failing = (error: unknown): Routes => ({
    'GET /it': async () => {
      throw error;
    },
  });

  test.each([
    [new InvalidRequestError('expected a, got b'), 400, 'invalid-request'],
    [new ConflictError('it is there'), 409, 'conflict'],
    [new OverBudgetError('too dear'), 409, 'over-budget'],
    [new NotFoundError('there is none'), 404, 'not-found'],
    [new UploadTooLargeError('too much'), 413, 'upload-too-large'],
  ])("of the caller's is told", async (error, status, code) => {
    const answer = await ask(failing(error), {});
    expect(answer.statusCode).toBe(status);
    expect(JSON.parse(answer.body ?? '')).toEqual({ error: { code, message: error.message } });
  });

  test('of ours is not', async () => {
    const answer = await ask(failing(new Error('the password is 1234')), {});
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('1234');
  });

  test('names the request that no route takes, whatever its body', async () => {
    const path = `/imports/1/frob${'x'.repeat(300)}`;
    const answer = await ask(
      { 'GET /it': async () => ({ status: 200 }) },
      {
        routeKey: '$default',
        requestContext: { http: { method: 'POST', path } } as never,
        body: 'not json',
      },
    );
    expect(answer.statusCode).toBe(404);
    const message = `there is no POST ${path.slice(0, 200)}`;
    expect(JSON.parse(answer.body ?? '')).toEqual({ error: { code: 'not-found', message } });
  });

  test('in a body that is no JSON is told, and the route is not called', async () => {
    const answer = await ask({}, { routeKey: 'GET /it', body: 'not json' });
    expect(answer.statusCode).toBe(404);
    const routes: Routes = { 'GET /it': async () => ({ status: 200 }) };
    expect((await ask(routes, { body: 'not json' })).statusCode).toBe(400);
    expect((await ask(routes, { body: 'e30=', isBase64Encoded: true })).statusCode).toBe(200);
  });
});

test('a buffer goes out as it is, and JSON is never stored by a cache', async () => {
  const bytes = Buffer.from([0, 255]);
  const binary = await ask({ 'GET /it': async () => ({ status: 200, body: bytes }) }, {});
  expect(binary).toMatchObject({ isBase64Encoded: true, body: 'AP8=' });
  const json = await ask({ 'GET /it': async () => ({ status: 200, body: { a: 1 } }) }, {});
  expect(json.headers).toEqual({ 'content-type': 'application/json', 'cache-control': 'no-store' });
});

test('a route is told what stands in its path and its headers', async () => {
  const routes: Routes = {
    'GET /it': async ({ path, headers }) => ({ status: 200, body: { path, headers } }),
  };
  const told = { path: { id: 'a b' }, headers: { 'if-none-match': '"1"' } };
  const answer = await ask(routes, { pathParameters: told.path, headers: told.headers });
  expect(JSON.parse(answer.body ?? '')).toEqual(told);
});
