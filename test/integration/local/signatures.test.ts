import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { describe, expect } from 'vitest';
import { createUrlSigner } from '../../../shared/signing/sign-url.ts';
import { createSigningKeys, signatureOf } from '../../../shared/signing/signing-key.ts';
import { createUploadFormSigner } from '../../../shared/signing/upload-form.ts';
import type { Fixture } from './fixture-stack.ts';
import { test } from './shared-cloud.ts';

let fixture: Fixture;
/** Those of functions, as roles have them: with a session token. The narrow one's may read a folder. */
let keys: { accessKeyId: string; secretAccessKey: string; sessionToken: string };
let narrowKeys: typeof keys;
const Bucket = 'test-private';
const Key = 'a b/c+d.jpg';

test.beforeAll(async ({ shared }) => {
  fixture = shared;
  keys = await keysOf('test-summaries-signer');
  narrowKeys = await keysOf('test-summaries-narrow');
  await fixture.s3.send(new PutObjectCommand({ Bucket, Key: 'narrow/there', Body: 'seen' }));
  for (const name of [Bucket, 'test-open', 'test-shut']) {
    await fixture.s3.send(new PutObjectCommand({ Bucket: name, Key, Body: 'seen' }));
  }
});

async function keysOf(name: string): Promise<typeof keys> {
  const invoked = await fixture.cloud.invoke(name, {});
  if (invoked.kind !== 'answer') throw new Error(JSON.stringify(invoked));
  const environment = JSON.parse(invoked.payload);
  return {
    accessKeyId: environment.AWS_ACCESS_KEY_ID,
    secretAccessKey: environment.AWS_SECRET_ACCESS_KEY,
    sessionToken: environment.AWS_SESSION_TOKEN,
  };
}

async function answer(url: string, init?: RequestInit) {
  const response = await fetch(url, init);
  const text = await response.text();
  const code = /<Code>(.*?)<\/Code>/.exec(text)?.[1];
  const message = /<Message>(.*?)<\/Message>/.exec(text)?.[1];
  return {
    status: response.status,
    ...(code ? { code } : { text }),
    ...(message ? { message } : {}),
  };
}

const life = (seconds: string) => (url: string) => url.replace(/Expires=\d+/, `Expires=${seconds}`);

const presign = (options: { expiresIn?: number; signingDate?: Date } = {}) =>
  getSignedUrl(fixture.s3, new GetObjectCommand({ Bucket, Key }), options);

describe('a presigned URL', () => {
  test('lets anyone read', async () => {
    expect(await answer(await presign())).toEqual({ status: 200, text: 'seen' });
  });

  test("of Glimpse's own signer, by a role's credentials, does too", async () => {
    const place = { region: 'us-east-1', bucket: Bucket, endpoint: fixture.cloud.endpoints.s3 };
    const { url } = createUrlSigner(place, 3600)(keys, Key, new Date());
    expect(await answer(url)).toEqual({ status: 200, text: 'seen' });
  });

  test("of the SDK, by a role's credentials, to read, to write and to hear of an object", async () => {
    const { s3: endpoint } = fixture.cloud.endpoints;
    const common = { endpoint, region: 'us-east-1', forcePathStyle: true };
    const s3 = new S3Client({ ...common, credentials: keys });
    const put = await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key: 'by URL' }));
    expect(await answer(put, { method: 'PUT', body: 'put' })).toMatchObject({ status: 200 });
    const get = new GetObjectCommand({ Bucket, Key: 'by URL', ResponseContentType: 'text/x' });
    const got = await fetch(await getSignedUrl(s3, get));
    expect([await got.text(), got.headers.get('content-type')]).toEqual(['put', 'text/x']);
    const head = await getSignedUrl(s3, new HeadObjectCommand({ Bucket, Key: 'by URL' }));
    expect((await fetch(head, { method: 'HEAD' })).status).toBe(200);
  });

  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
  const WRONG = { status: 403, code: 'SignatureDoesNotMatch' };
  const MALFORMED = { status: 400, code: 'AuthorizationQueryParametersError' };

  test.each<[string, { expiresIn?: number; signingDate?: Date }, object]>([
    [
      'has expired',
      { expiresIn: 60, signingDate: ago(61) },
      { status: 403, code: 'AccessDenied', message: 'Request has expired' },
    ],
    [
      'is of a time to come',
      { signingDate: ago(-1000) },
      { status: 403, code: 'AccessDenied', message: 'Request is not yet valid' },
    ],
  ])('that %s is refused', async (_what, options, expected) => {
    expect(await answer(await presign(options))).toMatchObject(expected);
  });

  test.each<[string, (url: string) => string, RequestInit, object]>([
    ['to another key', (url) => url.replace('c%2Bd', 'c%2Be'), {}, WRONG],
    ['to another bucket', (url) => url.replace('test-private', 'test-open'), {}, WRONG],
    ['to another folder', (url) => url.replace('a%20b', 'a%20c'), {}, WRONG],
    ['to another host', (url) => url.replace('127.0.0.1', 'localhost'), {}, WRONG],
    ['to another method', (url) => url, { method: 'DELETE' }, WRONG],
    ['to a write', (url) => url, { method: 'PUT', body: 'x' }, WRONG],
    ['to a longer life', (url) => url.replace('Expires=7', 'Expires=8'), {}, WRONG],
    ['to a life of more than a week', life('604801'), {}, MALFORMED],
    ['to a life that is no number', life('1e3'), {}, MALFORMED],
    ['to a later date', (url) => url.replace(/T(\d\d)0000Z/, 'T$10100Z'), {}, WRONG],
    ['to another day', (url) => url.replace(/Date=\d{8}/, 'Date=20200101'), {}, { status: 403 }],
    ['by a further parameter', (url) => `${url}&response-content-type=text/html`, {}, WRONG],
    ['by a parameter less', (url) => url.replace('&x-id=GetObject', ''), {}, WRONG],
    [
      'to no signature',
      (url) => url.replace(/&X-Amz-Signature=[^&]*/, ''),
      {},
      { ...MALFORMED, message: expect.stringContaining('X-Amz-Signature') },
    ],
    ['to another signature', (url) => url.replace(/Signature=./, 'Signature=g'), {}, WRONG],
    [
      'by a header of S3 that was not signed',
      (url) => url,
      { headers: { 'x-amz-meta-a': 'b' } },
      { status: 403, code: 'AccessDenied' },
    ],
    [
      'by a second way to sign',
      (url) => url,
      { headers: { authorization: 'AWS4-HMAC-SHA256 Credential=a' } },
      { status: 400, code: 'InvalidArgument' },
    ],
    ['to another algorithm', (url) => url.replace('HMAC-SHA256', 'HMAC-SHA1'), {}, MALFORMED],
    ['to another region', (url) => url.replace('us-east-1', 'eu-west-1'), {}, { status: 400 }],
    [
      'to a shorter token',
      (url) => url.replace(/(Security-Token=.{9})[^&]*/, '$1'),
      {},
      { status: 400, code: 'InvalidToken' },
    ],
    [
      'to no token',
      (url) => url.replace(/&X-Amz-Security-Token=[^&]*/, ''),
      {},
      { status: 400, code: 'InvalidToken' },
    ],
    [
      'to an unknown key',
      (url) => url.replace(/Credential=\w+/, 'Credential=ASIANOBODY'),
      {},
      { status: 403, code: 'InvalidAccessKeyId' },
    ],
  ])('that was changed %s is refused', async (_what, change, init, expected) => {
    const place = { region: 'us-east-1', bucket: Bucket, endpoint: fixture.cloud.endpoints.s3 };
    const { url } = createUrlSigner(place, 3600)(keys, Key, new Date());
    expect(await answer(change(url), init)).toMatchObject(expected);
  });

  test('can do what its signer may do, and no more', async () => {
    const { s3: endpoint } = fixture.cloud.endpoints;
    const common = { endpoint, region: 'us-east-1', forcePathStyle: true };
    const s3 = new S3Client({ ...common, credentials: narrowKeys });
    const denied = { status: 403, code: 'AccessDenied', message: expect.stringContaining('s3:') };
    const url = (command: GetObjectCommand | PutObjectCommand) => getSignedUrl(s3, command);
    const get = (key: string) => new GetObjectCommand({ Bucket, Key: key });
    expect(await answer(await url(get('narrow/there')))).toEqual({ status: 200, text: 'seen' });
    expect(await answer(await url(get(Key)))).toMatchObject(denied);
    // It may not list either, so that it does not hear of what is missing.
    expect(await answer(await url(get('narrow/missing')))).toMatchObject(denied);
    const put = await url(new PutObjectCommand({ Bucket, Key: 'narrow/there' }));
    expect(await answer(put, { method: 'PUT', body: 'x' })).toMatchObject(denied);
  });
});

describe('without a signature', () => {
  const path = Key.split('/').map(encodeURIComponent).join('/');
  const at = (name: string) => `${fixture.cloud.endpoints.s3}/${name}/${path}`;

  test('only what a bucket policy makes public is read', async () => {
    expect(await answer(at('test-open'))).toEqual({ status: 200, text: 'seen' });
    expect(await answer(at(Bucket))).toMatchObject({ status: 403, code: 'AccessDenied' });
  });

  test('a policy that the public access block overrules makes nothing public', async () => {
    expect(await answer(at('test-shut'))).toMatchObject({ status: 403, code: 'AccessDenied' });
  });

  test('nothing is written, deleted or listed, in a public bucket either', async () => {
    const denied = { status: 403, code: 'AccessDenied' };
    expect(await answer(at('test-open'), { method: 'PUT', body: 'x' })).toMatchObject(denied);
    expect(await answer(at('test-open'), { method: 'DELETE' })).toMatchObject(denied);
    expect(await answer(`${fixture.cloud.endpoints.s3}/test-open`)).toMatchObject(denied);
  });
});

test('a request signed by a wrong secret is refused', async () => {
  const { s3: endpoint } = fixture.cloud.endpoints;
  const credentials = { accessKeyId: 'glimpse-developer', secretAccessKey: 'wrong' };
  const client = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true });
  const put = client.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
  await expect(put).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
});

test('bytes that are not those that were signed are not stored', async () => {
  const url = `${fixture.cloud.endpoints.s3}/${Bucket}/tampered`;
  const md5 = Buffer.alloc(16).toString('base64');
  const signed = await getSignedUrl(fixture.s3, new PutObjectCommand({ Bucket, Key: 'tampered' }));
  const put = await answer(signed, { method: 'PUT', body: 'x', headers: { 'content-md5': md5 } });
  expect(put).toMatchObject({ status: 400, code: 'BadDigest' });
  expect(url).toContain('tampered');
  const got = fixture.s3.send(new GetObjectCommand({ Bucket, Key: 'tampered' }));
  await expect(got).rejects.toMatchObject({ name: 'NoSuchKey' });
});

describe('an upload form', () => {
  const place = () => ({
    region: 'us-east-1',
    bucket: Bucket,
    endpoint: fixture.cloud.endpoints.s3,
  });
  const upload = { key: 'ü p/100%+é😀.jpg', contentType: 'image/jpeg', bytes: 4 };
  const signed = (now = new Date()) => createUploadFormSigner(place(), 60)(keys, upload, now);

  async function post(url: string, fields: Readonly<Record<string, string>>, file = 'four') {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new Blob([file], { type: 'image/jpeg' }), 'my file.jpg');
    return answer(url, { method: 'POST', body: form });
  }

  test("of Glimpse's own signer uploads the one file that it names", async () => {
    const { url, fields } = signed();
    expect(await post(url, fields)).toEqual({ status: 204, text: '' });
    const got = await fixture.s3.send(new GetObjectCommand({ Bucket, Key: upload.key }));
    expect(got.ContentType).toBe('image/jpeg');
    expect(await got.Body?.transformToString()).toBe('four');
  });

  test("of the SDK, with the file's name in the key and a prefix condition, uploads too", async () => {
    const { url, fields } = await createPresignedPost(fixture.s3, {
      Bucket,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: S3's own placeholder.
      Key: 'user/${filename}',
      Fields: { success_action_status: '201' },
      Conditions: [['starts-with', '$key', 'user/']],
    });
    expect((await post(url, fields)).status).toBe(201);
    const got = await fixture.s3.send(new GetObjectCommand({ Bucket, Key: 'user/my file.jpg' }));
    expect(got.ContentLength).toBe(4);
  });

  const DENIED = { status: 403, code: 'AccessDenied' };
  const said = (text: string) => ({ ...DENIED, message: expect.stringContaining(text) });
  type Fields = Record<string, string>;
  const without = (fields: Fields, name: string) =>
    Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name));
  /** The policy with something replaced in it, still under the old signature. */
  const rewritten = (fields: Fields, from: string, to: string) => {
    const policy = Buffer.from(fields.Policy ?? '', 'base64').toString();
    expect(policy).toContain(from);
    return { ...fields, Policy: Buffer.from(policy.replace(from, to)).toString('base64') };
  };

  test.each<[string, (fields: Fields) => Fields, string, object]>([
    ['for another key', (fields) => ({ ...fields, key: 'other.jpg' }), 'four', said('key')],
    [
      'for another type',
      (fields) => ({ ...fields, 'Content-Type': 'text/html' }),
      'four',
      said('Content-Type'),
    ],
    ['that is larger', (fields) => fields, 'fives', { status: 400, code: 'EntityTooLarge' }],
    ['that is smaller', (fields) => fields, 'one', { status: 400, code: 'EntityTooSmall' }],
    [
      'with a field that the policy leaves out',
      (fields) => ({ ...fields, 'x-amz-meta-a': 'b' }),
      'four',
      said('Extra input fields: x-amz-meta-a'),
    ],
    [
      'with a redirect that the policy leaves out',
      (fields) => ({ ...fields, success_action_redirect: 'http://elsewhere.test' }),
      'four',
      said('Extra input fields: success_action_redirect'),
    ],
    ['without its type', (fields) => without(fields, 'Content-Type'), 'four', said('Content-Type')],
    ['without its date', (fields) => without(fields, 'X-Amz-Date'), 'four', said('X-Amz-Date')],
    [
      'without its policy',
      (fields) => without(fields, 'Policy'),
      'four',
      { ...DENIED, message: 'Access Denied' },
    ],
    [
      'without its signature',
      (fields) => without(fields, 'X-Amz-Signature'),
      'four',
      { status: 403, code: 'SignatureDoesNotMatch' },
    ],
    [
      'with another signature',
      (fields) => ({ ...fields, 'X-Amz-Signature': '0'.repeat(64) }),
      'four',
      { status: 403, code: 'SignatureDoesNotMatch' },
    ],
    [
      'whose policy was changed',
      (fields) => rewritten(fields, '"content-length-range",4,4', '"content-length-range",0,9'),
      'fives',
      { status: 403, code: 'SignatureDoesNotMatch' },
    ],
    [
      'whose policy was changed to end later',
      (fields) => rewritten(fields, '"expiration":"2', '"expiration":"3'),
      'four',
      { status: 403, code: 'SignatureDoesNotMatch' },
    ],
    [
      'without its token',
      (fields) => without(fields, 'X-Amz-Security-Token'),
      'four',
      { status: 400, code: 'InvalidToken' },
    ],
    [
      'with a shorter token',
      (fields) => ({ ...fields, 'X-Amz-Security-Token': 'cut' }),
      'four',
      { status: 400, code: 'InvalidToken' },
    ],
    [
      'of an unknown key',
      (fields) => ({
        ...fields,
        'X-Amz-Credential': (fields['X-Amz-Credential'] ?? '').replace(/^\w+/, 'ASIANOBODY'),
      }),
      'four',
      { status: 403, code: 'InvalidAccessKeyId' },
    ],
  ])('%s is refused', async (_what, change, file, expected) => {
    const { url, fields } = signed();
    expect(await post(url, change({ ...fields }), file)).toMatchObject(expected);
  });

  test('is refused before it is sent where it announces more than is taken', async () => {
    const { url } = signed();
    const size = 513 * 1024 * 1024;
    const headers = { 'content-type': 'multipart/form-data; boundary=x', 'content-length': size };
    const form = request(url, { method: 'POST', headers });
    // Its head and no more.
    form.flushHeaders();
    const response = await new Promise<IncomingMessage>((resolve) => form.on('response', resolve));
    const xml = await text(response);
    form.on('error', () => {}).destroy();
    expect(response.statusCode).toBe(400);
    expect(xml).toContain('<Code>EntityTooLarge</Code>');
    expect(xml).toContain(
      'exceeds the maximum allowed size: the local cloud takes forms up to 512 MB',
    );
    expect(xml).toContain(`<ProposedSize>${size}</ProposedSize>`);
  });

  test('that has expired is refused', async () => {
    const { url, fields } = signed(new Date(Date.now() - 61_000));
    expect(await post(url, fields)).toMatchObject(said('Policy expired'));
  });

  test('whose policy names no bucket is good for none', async () => {
    const { url, fields } = await createPresignedPost(fixture.s3, { Bucket, Key: 'k' });
    const policy = JSON.parse(Buffer.from(fields.Policy ?? '', 'base64').toString());
    const conditions = policy.conditions.filter((each: object) => !('bucket' in each));
    expect(conditions.length).toBe(policy.conditions.length - 1);
    const text = Buffer.from(JSON.stringify({ ...policy, conditions })).toString('base64');
    const day = fields['X-Amz-Date']?.slice(0, 8) ?? '';
    const { secretAccessKey } = fixture.cloud.endpoints.credentials;
    const key = createSigningKeys()(secretAccessKey, day, 'us-east-1');
    const { bucket: _, ...others } = fields;
    const again = { ...others, Policy: text, 'X-Amz-Signature': signatureOf(key, text) };
    expect(await post(url, again)).toMatchObject(said('Extra input fields: bucket'));
    expect(await post(url, fields)).toMatchObject({ status: 204 });
  });

  test('a prefix condition wants its field, also where it allows every value', async () => {
    const { url, fields } = await createPresignedPost(fixture.s3, {
      Bucket,
      Key: 'any type',
      Conditions: [['starts-with', '$Content-Type', '']],
    });
    expect(await post(url, { ...fields, 'Content-Type': 'image/any' })).toMatchObject({
      status: 204,
    });
    expect(await post(url, fields)).toMatchObject(said('Policy Condition failed'));
  });

  test('can do what its signer may do, and no more', async () => {
    const { url, fields } = createUploadFormSigner(place(), 60)(narrowKeys, upload, new Date());
    expect(await post(url, fields)).toMatchObject(said('s3:PutObject'));
  });

  test('for another bucket does not upload to this one', async () => {
    const { fields } = createUploadFormSigner({ ...place(), bucket: 'test-open' }, 60)(
      keys,
      upload,
      new Date(),
    );
    expect(await post(signed().url, fields)).toMatchObject({ status: 403, code: 'AccessDenied' });
  });
});

describe('for pages of other origins', () => {
  const preflight = (origin: string, method: string) =>
    fetch(`${fixture.cloud.endpoints.s3}/${Bucket}/x`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'X-Custom',
      },
    });

  test("the bucket's rules are announced", async () => {
    const { status, headers } = await preflight('https://shop.example', 'GET');
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect(headers.get('access-control-allow-headers')).toBe('x-custom');
    expect(headers.get('access-control-max-age')).toBe('60');
  });

  test('what no rule allows is refused', async () => {
    expect((await preflight('https://shop.example', 'PUT')).status).toBe(403);
    expect((await preflight('https://elsewhere.test', 'GET')).status).toBe(403);
  });

  test('an answer says who may read it', async () => {
    const url = await presign();
    const allowed = await fetch(url, { headers: { origin: 'https://shop.example' } });
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    const other = await fetch(url, { headers: { origin: 'https://elsewhere.test' } });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });
});
