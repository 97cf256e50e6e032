import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FUNCTION_KEYS } from '../../../local/endpoints.ts';
import { createUrlSigner } from '../../../shared/signing/sign-url.ts';
import { createUploadFormSigner } from '../../../shared/signing/upload-form.ts';
import { bucket, type Fixture, publicRead, startFixture } from './fixture-stack.ts';

let fixture: Fixture;
const Bucket = 'test-private';
const Key = 'a b/c+d.jpg';
const cors = {
  CorsConfiguration: {
    CorsRules: [
      {
        AllowedMethods: ['GET'],
        AllowedOrigins: ['https://*.example'],
        AllowedHeaders: ['*'],
        MaxAge: 60,
      },
    ],
  },
};

beforeAll(async () => {
  fixture = await startFixture({
    Private: bucket(cors),
    Open: bucket(),
    OpenPolicy: publicRead('Open'),
    Shut: bucket({ PublicAccessBlockConfiguration: { RestrictPublicBuckets: true } }),
    ShutPolicy: publicRead('Shut'),
  });
  for (const name of [Bucket, 'test-open', 'test-shut']) {
    await fixture.s3.send(new PutObjectCommand({ Bucket: name, Key, Body: 'seen' }));
  }
});
afterAll(() => fixture.stop());

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

const presign = (options: { expiresIn?: number; signingDate?: Date } = {}) =>
  getSignedUrl(fixture.s3, new GetObjectCommand({ Bucket, Key }), options);

describe('a presigned URL', () => {
  test('lets anyone read', async () => {
    expect(await answer(await presign())).toEqual({ status: 200, text: 'seen' });
  });

  test("of Glimpse's own signer, by a role's credentials, does too", async () => {
    const place = { region: 'us-east-1', bucket: Bucket, endpoint: fixture.cloud.endpoints.s3 };
    const keys = { ...FUNCTION_KEYS, sessionToken: FUNCTION_KEYS.sessionToken ?? '' };
    const { url } = createUrlSigner(place, 3600)(keys, Key, new Date());
    expect(await answer(url)).toEqual({ status: 200, text: 'seen' });
  });

  test('is refused once it has expired', async () => {
    const url = await presign({ expiresIn: 60, signingDate: new Date(Date.now() - 61_000) });
    expect(await answer(url)).toMatchObject({
      code: 'AccessDenied',
      message: 'Request has expired',
    });
  });

  test('is refused for another key, another method and a longer life', async () => {
    const url = await presign({ expiresIn: 60 });
    const wrong = { status: 403, code: 'SignatureDoesNotMatch' };
    expect(await answer(url.replace('c%2Bd', 'c%2Be'))).toMatchObject(wrong);
    expect(await answer(url, { method: 'DELETE' })).toMatchObject(wrong);
    expect(await answer(url.replace('Expires=60', 'Expires=61'))).toMatchObject(wrong);
    expect(await answer(`${url}&response-content-type=text/html`)).toMatchObject(wrong);
  });

  test('is refused by an unknown access key', async () => {
    const url = (await presign()).replace('glimpse-developer', 'glimpse-nobody');
    expect(await answer(url)).toMatchObject({ status: 403, code: 'InvalidAccessKeyId' });
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
  const keys = { ...FUNCTION_KEYS, sessionToken: FUNCTION_KEYS.sessionToken ?? '' };
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

  test('is refused for another key, type or size, or a field that the policy leaves out', async () => {
    const { url, fields } = signed();
    const denied = { status: 403, code: 'AccessDenied' };
    expect(await post(url, { ...fields, key: 'other.jpg' })).toMatchObject(denied);
    expect(await post(url, { ...fields, 'Content-Type': 'text/html' })).toMatchObject(denied);
    expect(await post(url, { ...fields, 'x-amz-meta-a': 'b' })).toMatchObject(denied);
    expect(await post(url, fields, 'fives')).toMatchObject({ status: 400, code: 'EntityTooLarge' });
    expect(await post(url, fields, 'one')).toMatchObject({ status: 400, code: 'EntityTooSmall' });
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

  test('is refused once it has expired, with another signature, or with none', async () => {
    const { url, fields } = signed(new Date(Date.now() - 61_000));
    const expired = await post(url, fields);
    expect(expired.message).toBe('Invalid according to Policy: Policy expired.');
    const good = signed().fields;
    const wrong = await post(url, { ...good, 'X-Amz-Signature': '0'.repeat(64) });
    expect(wrong).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
    expect(await post(url, { key: 'a' })).toMatchObject({ status: 403, code: 'AccessDenied' });
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
