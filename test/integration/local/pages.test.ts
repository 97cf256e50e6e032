import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, inject } from 'vitest';
import { z } from 'zod';
import { publish } from '../../../cli/publish.ts';
import { type LocalCloud, startLocalCloud } from '../../../local/cloud.ts';
import { builtFiles } from '../../../web/files.ts';
import { root } from './fixture-stack.ts';
import { test } from './shared-cloud.ts';

const cdkOut = inject('cdkOut');

let stateDir: string;
let cloud: LocalCloud;
let web: string;
beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'glimpse-pages-'));
  cloud = await startLocalCloud({ root, stateDir, cdkOut: withoutCode(join(stateDir, 'cdk.out')) });
  web = cloud.endpoints.web;
});
afterAll(async () => {
  await cloud.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

/** The real stack, but for the functions' code: nobody calls them here, and some start ahead of that. */
function withoutCode(dir: string): string {
  const assets = z
    .looseObject({ files: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(readFileSync(join(cdkOut, 'Glimpse.assets.json'), 'utf8')));
  const nothing = { source: { path: 'asset.nothing' } };
  const files = Object.fromEntries(Object.keys(assets.files).map((key) => [key, nothing]));
  mkdirSync(join(dir, nothing.source.path), { recursive: true });
  writeFileSync(
    join(dir, nothing.source.path, 'index.mjs'),
    'export const handler = () => undefined;',
  );
  copyFileSync(join(cdkOut, 'Glimpse.template.json'), join(dir, 'Glimpse.template.json'));
  writeFileSync(join(dir, 'Glimpse.assets.json'), JSON.stringify({ ...assets, files }));
  return dir;
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** As it is: `fetch` would resolve the dots of a path, and set headers of its own. */
function ask(
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { hostname, port } = new URL(web);
  const request = get({ hostname, port, path, method, headers }, (response) => {
    let body = '';
    response.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    response.on('end', () => {
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
  });
  request.on('error', reject);
  return promise;
}

const policySchema = z.object({
  Properties: z.object({
    ResponseHeadersPolicyConfig: z.object({
      CustomHeadersConfig: z.object({
        Items: z.array(z.object({ Header: z.string(), Value: z.string() })),
      }),
      SecurityHeadersConfig: z.object({
        ContentSecurityPolicy: z.object({
          ContentSecurityPolicy: z.object({
            'Fn::Join': z.tuple([z.string(), z.array(z.unknown())]),
          }),
        }),
        FrameOptions: z.object({ FrameOption: z.string() }),
        ReferrerPolicy: z.object({ ReferrerPolicy: z.string() }),
      }),
    }),
  }),
});

/** The policy that CloudFront would follow. */
function templatePolicy() {
  const template = z
    .object({ Resources: z.record(z.string(), z.looseObject({ Type: z.string() })) })
    .parse(JSON.parse(readFileSync(join(cdkOut, 'Glimpse.template.json'), 'utf8')));
  const found = Object.values(template.Resources).find(
    ({ Type }) => Type === 'AWS::CloudFront::ResponseHeadersPolicy',
  );
  return policySchema.parse(found).Properties.ResponseHeadersPolicyConfig;
}

describe('the built pages', () => {
  test("come with the template's headers, whatever is asked for", async () => {
    const policy = templatePolicy();
    const { ContentSecurityPolicy, FrameOptions, ReferrerPolicy } = policy.SecurityHeadersConfig;
    const [, parts] = ContentSecurityPolicy.ContentSecurityPolicy['Fn::Join'];
    // But for the addresses, that is: what the template knows itself.
    const directives = parts
      .filter((part) => typeof part === 'string')
      .flatMap((part) => part.split('; '))
      .filter((part) => /^[a-z-]+ '[a-z]+'$/.test(part));
    expect(directives).toContain("default-src 'none'");
    for (const path of ['/', '/config.json', '/glimpse-image.js', '/about', '/nope', '/sample']) {
      const { headers } = await ask(path);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': FrameOptions.FrameOption,
        'referrer-policy': ReferrerPolicy.ReferrerPolicy,
      });
      for (const { Header, Value } of policy.CustomHeadersConfig.Items) {
        expect(headers[Header.toLowerCase()]).toBe(Value);
      }
      const csp = String(headers['content-security-policy']);
      expect(csp.split('; ')).toEqual(expect.arrayContaining(directives));
      expect(csp).not.toMatch(/unsafe|data:|blob:|amazonaws|cloudfront/);
    }
  });

  test('let the browser reach the API, the issuer and S3 of this machine, and nothing else', async () => {
    const { api, s3, issuer } = cloud.endpoints;
    const csp = String((await ask('/')).headers['content-security-policy']);
    expect(csp).toContain(`img-src 'self' ${s3};`);
    expect(csp).toContain(`connect-src 'self' ${api} ${issuer} ${s3} ${s3};`);
  });

  test('are all there: the page and what it names', async () => {
    const page = await ask('/');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    const named = [...page.body.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(2);
    for (const path of named) expect((await ask(path)).status).toBe(200);
  });

  test('are asked about again, but for those with a digest in their names', async () => {
    const page = await ask('/');
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.body)?.[1] ?? '';
    expect((await ask(script)).headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
    });
    for (const path of ['/', '/config.json', '/glimpse-image.js']) {
      const { headers } = await ask(path);
      expect(headers['cache-control']).toBe('no-cache');
      const again = await ask(path, { headers: { 'if-none-match': headers.etag ?? '' } });
      expect([again.status, again.body]).toEqual([304, '']);
    }
  });

  test('have no inline script or style, which the policy would refuse', async () => {
    for (const path of ['/', '/404.html', '/about']) {
      const { body } = await ask(path);
      expect(body).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son[a-z]+=/);
    }
  });

  test('can be loaded by the pages of others, without seeing what is only here', async () => {
    const headers = { origin: 'https://shop.example' };
    const element = await ask('/glimpse-image.js', { headers });
    expect(element.headers['access-control-allow-origin']).toBe('*');
    const own = await ask('/endpoints.json', { headers });
    expect(own.headers['access-control-allow-origin']).toBeUndefined();
    expect(JSON.parse(own.body)).toHaveProperty('token');
    // Nor under a name of theirs that leads here.
    const host = `shop.example:${new URL(web).port}`;
    const renamed = await ask('/endpoints.json', { headers: { host } });
    expect([renamed.status, renamed.body]).toEqual([
      403,
      `Expected this server to be called ${web}.`,
    ]);
  });

  test('answer HEAD without a body, and nothing but GET and HEAD', async () => {
    const head = await ask('/', { method: 'HEAD' });
    expect([head.status, head.body]).toEqual([200, '']);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(100);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect((await ask('/', { method })).status).toBe(405);
    }
  });

  test.each([
    '/nope',
    '/assets',
    '/assets/',
    '/../package.json',
    '/assets/../../../package.json',
    '/..%2f..%2fpackage.json',
    '/%2e%2e/%2e%2e/package.json',
    '/..\\..\\package.json',
    '//etc/passwd',
    '/index.html%00',
    '/__proto__',
    '/%',
  ])('have no %s, and say so with a page', async (path) => {
    const { status, headers, body } = await ask(path);
    expect(status).toBe(404);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(body).toContain('There is no such page');
  });
});

test('the configuration is that of the stack with the addresses of this machine', async () => {
  const { status, body } = await ask('/config.json');
  const { api, s3, issuer } = cloud.endpoints;
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual({
    api,
    buckets: { originals: s3, thumbnails: s3 },
    variants: { grid: 'card', large: 'zoom' },
    upload: {
      maxBytes: 50_000_000,
      types: expect.arrayContaining(['image/jpeg', 'image/svg+xml']),
    },
    imports: { maxBytes: 1_000_000_000 },
    sample: '/sample',
    signIn: { issuer, audience: 'glimpse', clientId: 'glimpse-pages', scope: 'openid' },
    dashboards: '/dashboards',
  });
  const { PagesUrl, PagesConfig } = cloud.endpoints.outputs;
  expect(PagesUrl).toBe(web);
  expect(PagesConfig).not.toContain('amazonaws');
});

describe('the sample gallery', () => {
  test('is not uploaded because a page from elsewhere asks for it', async () => {
    const { port, host } = new URL(web);
    const foreign: Record<string, string>[] = [
      { origin: 'https://shop.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: web },
      // Another server of this machine.
      { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:9' },
      // A name of its own that leads here.
      { host: `shop.example:${port}`, origin: `http://shop.example:${port}` },
    ];
    for (const headers of foreign) {
      const { status } = await ask('/sample', { method: 'POST', headers: { host, ...headers } });
      expect(status).toBe(403);
    }
    expect(JSON.parse((await ask('/sample')).body)).toEqual({ state: 'idle', done: 0, total: 0 });
  });
});

test('what is published is what is served here, pages last', async () => {
  const { endpoints } = cloud;
  const { s3, region, credentials, buckets, outputs } = endpoints;
  const client = new S3Client({ endpoint: s3, region, credentials, forcePathStyle: true });
  const target = { client, bucket: buckets.pages ?? '', files: builtFiles(root) };
  const published: string[] = [];
  for await (const { path } of publish({ ...target, config: outputs.PagesConfig ?? '' })) {
    published.push(path);
  }
  const isPage = (path: string) => path.endsWith('.html');
  // CloudWatch is in their place.
  expect(published).not.toContain('dashboards.html');
  expect((await ask('/dashboards')).body).toContain('<title>Dashboards · Glimpse</title>');
  expect(published.findIndex(isPage)).toBe(published.length - published.filter(isPage).length);
  expect(published).toEqual(expect.arrayContaining(['index.html', 'config.json']));
  for (const path of published) {
    const object = { Bucket: target.bucket, Key: path };
    const { ContentType, CacheControl } = await client.send(new HeadObjectCommand(object));
    const { headers, body } = await ask(`/${path}`);
    expect([ContentType, CacheControl]).toEqual([
      headers['content-type'],
      headers['cache-control'],
    ]);
    const { Body } = await client.send(new GetObjectCommand(object));
    const bytes = (await Body?.transformToString()) ?? '';
    // The local configuration says where the sample gallery is, too.
    if (path === 'config.json') expect(JSON.parse(body)).toMatchObject(JSON.parse(bytes));
    else expect(body).toBe(bytes);
  }
});

test('a stack without pages has a page about itself', async ({ shared }) => {
  const answer = await fetch(shared.cloud.endpoints.web);
  expect(answer.url).toMatch(/\/about$/);
  expect(await answer.text()).toContain('Glimpse runs on this machine');
});
