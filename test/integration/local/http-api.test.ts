import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { DEVELOPER } from '../../../local/issuer/people.ts';
import { signRequest } from '../../../shared/signing/sign-request.ts';
import { type Fixture, httpApi, type StartedApi, startApi } from './fixture-stack.ts';
import { test } from './shared-cloud.ts';
import { code, echo } from './stacks/http-api.ts';

let fixture: Fixture;
let api: StartedApi;
const answered: number[] = [];

test.beforeAll(async ({ shared }) => {
  fixture = shared;
  const resources = httpApi(
    {
      'GET /things': 'SummariesEcho',
      'POST /things': 'SummariesEcho',
      'GET /things/{id}': 'SummariesEcho',
      'GET /things/latest': 'SummariesEcho',
      'ANY /files/{path+}': 'SummariesEcho',
    },
    {
      CorsConfiguration: {
        AllowOrigins: ['https://shop.example'],
        AllowMethods: ['GET', 'POST'],
        AllowHeaders: ['content-type'],
        MaxAge: 600,
      },
    },
  );
  api = await startApi(fixture, { ...echo, ...resources }, code, (status) => answered.push(status));
});
afterAll(() => api.stop());

const call = (path: string, init?: RequestInit) => fetch(api.origin + path, init);
const asked = (instruction: object) =>
  call(`/things?do=${encodeURIComponent(JSON.stringify(instruction))}`);
const eventOf = async (path: string, init?: RequestInit) =>
  z
    .object({ event: z.record(z.string(), z.unknown()) })
    .parse(await (await call(path, init)).json()).event;

test('the event is that of payload format 2.0', async () => {
  const event = await eventOf('/things?a=1&a=2&b=x%20y+z&c', {
    headers: { 'X-Custom': 'Value', cookie: 'one=1; two=2' },
  });
  expect(event).toMatchObject({
    version: '2.0',
    routeKey: 'GET /things',
    rawPath: '/things',
    rawQueryString: 'a=1&a=2&b=x%20y+z&c',
    queryStringParameters: { a: '1,2', b: 'x y z', c: '' },
    cookies: ['one=1', 'two=2'],
    headers: { 'x-custom': 'Value' },
    requestContext: {
      accountId: '000000000000',
      http: { method: 'GET', path: '/things', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1' },
      routeKey: 'GET /things',
      stage: '$default',
      timeEpoch: expect.any(Number),
      time: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
    },
    isBase64Encoded: false,
  });
  expect(event.headers).not.toHaveProperty('cookie');
  expect(event).not.toHaveProperty('body');
});

test('a text body comes as it is, other bytes as base64', async () => {
  const json = { method: 'POST', body: '{"ü":1}', headers: { 'content-type': 'application/json' } };
  expect(await eventOf('/things', json)).toMatchObject({ body: '{"ü":1}', isBase64Encoded: false });
  const bytes = {
    method: 'POST',
    body: Buffer.from([0, 255]),
    headers: { 'content-type': 'image/png' },
  };
  expect(await eventOf('/things', bytes)).toMatchObject({ body: 'AP8=', isBase64Encoded: true });
});

test('the most exact route answers, with its parameters', async () => {
  expect(await eventOf('/things/latest')).toMatchObject({ routeKey: 'GET /things/latest' });
  expect(await eventOf('/things/a%20b')).toMatchObject({
    routeKey: 'GET /things/{id}',
    pathParameters: { id: 'a b' },
  });
  expect(await eventOf('/files/a/b', { method: 'PUT' })).toMatchObject({
    routeKey: 'ANY /files/{path+}',
    pathParameters: { path: 'a/b' },
  });
});

test('an unknown route is not found, nor is a known one by another method', async () => {
  for (const [path, method] of [
    ['/nothing', 'GET'],
    ['/things', 'DELETE'],
    ['/things/', 'GET'],
  ]) {
    const response = await call(path ?? '', { method: method ?? '' });
    expect([response.status, await response.json()]).toEqual([404, { message: 'Not Found' }]);
  }
});

describe('an answer', () => {
  test('has the status, headers, cookies and bytes that the function gave', async () => {
    const response = await asked({
      answer: {
        statusCode: 201,
        headers: { 'X-One': 1, 'content-type': 'image/gif' },
        cookies: ['a=1; Path=/', 'b=2'],
        body: 'AP8=',
        isBase64Encoded: true,
      },
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('x-one')).toBe('1');
    expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 255]);
  });

  test('without a status is JSON with 200', async () => {
    const response = await asked({ answer: { hello: 'world' } });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect([response.status, await response.json()]).toEqual([200, { hello: 'world' }]);
  });
});

test('failures are told as API Gateway tells them', async () => {
  const told = async (response: Response) => [
    response.status,
    z.object({ message: z.string() }).parse(await response.json()).message,
  ];
  expect(await told(await asked({ fail: true }))).toEqual([500, 'Internal Server Error']);
  expect(await told(await asked({ answer: { statusCode: 'none' } }))).toEqual([
    500,
    'Internal Server Error',
  ]);
  expect(await told(await asked({ sleepMs: 5000 }))).toEqual([503, 'Service Unavailable']);
  const many = await Promise.all([1, 2, 3, 4].map(() => asked({ sleepMs: 300 })));
  expect(many.map(({ status }) => status).sort()).toEqual([200, 200, 200, 503]);
  const large = await call('/things', { method: 'POST', body: Buffer.alloc(10 * 1024 * 1024 + 1) });
  expect(await told(large)).toEqual([413, 'Request Entity Too Large']);
});

test('whoever leaves before all of a request was sent has called nothing', async () => {
  const before = answered.length;
  const client = connect(Number(new URL(api.origin).port), '127.0.0.1');
  client.write('POST /things HTTP/1.1\r\nhost: api\r\ncontent-length: 9\r\n\r\nhalf');
  await sleep(100);
  client.destroy();
  await sleep(100);
  expect(answered.slice(before)).toEqual([]);
  expect((await call('/things')).status).toBe(200);
  expect(answered.slice(before)).toEqual([200]);
});

test("beyond the stage's rate, requests are refused", async () => {
  const DefaultRouteSettings = { ThrottlingRateLimit: 1, ThrottlingBurstLimit: 2 };
  const routes = httpApi({ 'GET /': 'SummariesEcho' }, {}, { DefaultRouteSettings });
  const slow = await startApi(fixture, { ...echo, ...routes }, code);
  onTestFinished(slow.stop);
  const statuses: number[] = [];
  for (let index = 0; index < 4; index++) {
    statuses.push((await fetch(`${slow.origin}/`)).status);
  }
  expect(statuses.slice(0, 2)).toEqual([200, 200]);
  expect(statuses).toContain(429);
});

describe('for pages of other origins', () => {
  const preflight = (origin: string) =>
    call('/things', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });

  test('the preflight is answered without the function', async () => {
    const { status, headers } = await preflight('https://shop.example');
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect(headers.get('access-control-allow-methods')).toBe('GET,POST');
    expect(headers.get('access-control-allow-headers')).toBe('content-type');
    expect(headers.get('access-control-max-age')).toBe('600');
    expect(
      (await preflight('https://elsewhere.test')).headers.has('access-control-allow-origin'),
    ).toBe(false);
  });

  test('an answer says who may read it, failures too', async () => {
    for (const path of ['/things', '/nothing', '/things?do={"fail":1}']) {
      const response = await call(path, { headers: { origin: 'https://shop.example' } });
      expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    }
  });
});

describe('a route that asks who calls', () => {
  const get = (path: string, authorization?: string) =>
    fetch(fixture.cloud.endpoints.api + path, {
      ...(authorization === undefined ? {} : { headers: { authorization } }),
    });
  const token = (claims: Record<string, unknown> = {}) => fixture.cloud.tokenFor(DEVELOPER, claims);
  const contextOf = async (answer: Response) => {
    const { event } = await answer.json();
    return event.requestContext.authorizer;
  };

  test('tells the function of the claims, all of them as text', async () => {
    const claims = { groups: ['a', 'b'], admin: true, level: 3, scope: 'openid read' };
    const answer = await get('/closed', `Bearer ${await token(claims)}`);
    expect(await contextOf(answer)).toEqual({
      jwt: {
        claims: expect.objectContaining({
          sub: 'developer',
          aud: 'glimpse',
          groups: '[a b]',
          admin: 'true',
          level: '3',
          exp: expect.stringMatching(/^\d+$/),
        }),
        scopes: ['openid', 'read'],
      },
    });
    expect(await contextOf(await get('/open'))).toBeUndefined();
  });

  test('takes a token without the word before it, and one that names its client in the place of an audience', async () => {
    expect((await get('/closed', await token())).status).toBe(200);
    const cognito = { aud: undefined, client_id: 'glimpse' };
    expect((await get('/closed', `Bearer ${await token(cognito)}`)).status).toBe(200);
    const other = { aud: undefined, client_id: 'other' };
    expect((await get('/closed', `Bearer ${await token(other)}`)).status).toBe(401);
  });

  test('says in a header what is wrong with a token, and in the body nothing', async () => {
    const expired = await get('/closed', `Bearer ${await token({ exp: 1 })}`);
    expect([expired.status, await expired.json()]).toEqual([401, { message: 'Unauthorized' }]);
    expect(expired.headers.get('www-authenticate')).toBe(
      'Bearer error="invalid_token" error_description="the token has expired"',
    );
    const issued = { iat: Math.floor(Date.now() / 1000) + 600 };
    expect((await get('/closed', `Bearer ${await token(issued)}`)).status).toBe(401);
    expect((await get('/closed')).headers.get('www-authenticate')).toBe('Bearer');
  });

  test('and for a scope forbids a token without one', async () => {
    expect((await get('/scoped', `Bearer ${await token({ scope: 'write read' })}`)).status).toBe(
      200,
    );
    const answer = await get('/scoped', `Bearer ${await token({ scope: 'write' })}`);
    expect([answer.status, await answer.json()]).toEqual([403, { message: 'Forbidden' }]);
  });

  test('takes it from where the authorizer looks, and from nowhere else', async () => {
    const good = await token();
    expect((await get(`/address?token=${good}`)).status).toBe(200);
    expect((await get('/address', `Bearer ${good}`)).status).toBe(401);
    expect((await get(`/closed?token=${good}`)).status).toBe(401);
  });

  test('takes the signature of AWS credentials over this very request', async () => {
    const { api, region, credentials } = fixture.cloud.endpoints;
    const signed = async (path: string, keys = credentials, at = new Date()) => {
      const { host: _, ...headers } = await signRequest(
        keys,
        region,
        { method: 'GET', url: new URL(api + path), headers: {}, body: '' },
        at,
      );
      return headers;
    };
    const headers = await signed('/signed?b=2&a=1%202');
    const answer = await fetch(`${api}/signed?b=2&a=1%202`, { headers });
    expect(await contextOf(answer)).toMatchObject({
      iam: { accountId: '000000000000', callerId: 'glimpse-developer' },
    });
    const refused = [
      { path: '/signed', headers: {} },
      { path: '/signed?b=3', headers },
      {
        path: '/signed',
        headers: await signed('/signed', { ...credentials, secretAccessKey: 'x' }),
      },
      { path: '/signed', headers: await signed('/signed', { ...credentials, accessKeyId: 'x' }) },
      {
        path: '/signed',
        headers: await signed('/signed', credentials, new Date(Date.now() - 900_000)),
      },
    ];
    for (const { path, headers: sent } of refused) {
      const { status } = await fetch(api + path, { headers: sent });
      expect(status).toBe(403);
    }
  });

  test('lets a preflight be answered, but by the route for all else, to which a browser brings no token', async () => {
    const preflight = (path: string) =>
      fetch(fixture.cloud.endpoints.api + path, {
        method: 'OPTIONS',
        headers: { origin: 'https://shop.example', 'access-control-request-method': 'GET' },
      });
    expect((await preflight('/closed')).status).toBe(401);
  });
});
