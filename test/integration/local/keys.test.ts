import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  NotFound,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { beforeAll, describe, expect, onTestFinished } from 'vitest';
import type { Fixture } from './fixture-stack.ts';
import { test } from './shared-cloud.ts';

const KEYS = [
  'plain.jpg',
  'a folder/with spaces.jpg',
  ' leading and trailing ',
  'a+b.jpg',
  '100%.jpg',
  'a%25b.jpg',
  'a%2Fb%2fc.jpg',
  '%E0%A4%A',
  'a#b.jpg',
  'what?.jpg',
  'a&b=c;d,e.jpg',
  'key=value',
  '"double" and \'single\'.jpg',
  '<tag>&amp;.jpg',
  'a//b.jpg',
  'a/../b.jpg',
  '../up.jpg',
  './here.jpg',
  '/leading.jpg',
  '//two.jpg',
  'trailing/',
  'back\\slash.jpg',
  '*!~()[]{}|^`@$.jpg',
  '😀/🏳️‍🌈.jpg',
  'caf\u00e9.jpg',
  'cafe\u0301.jpg',
  '\u65e5\u672c\u8a9e.jpg',
  'tab\tnewline\nreturn\r.jpg',
  '\u007f\u0085\u2028.jpg',
  'x'.repeat(1024),
  '\u00e9'.repeat(512),
];

let fixture: Fixture;
const Bucket = 'test-keys';

test.beforeAll(({ shared }) => {
  fixture = shared;
});

const put = (Key: string, name = Bucket) =>
  fixture.s3.send(new PutObjectCommand({ Bucket: name, Key, Body: `of ${Key}` }));

async function listAll(parameters: object = {}, name = Bucket): Promise<string[]> {
  const keys: string[] = [];
  let ContinuationToken: string | undefined;
  do {
    const page = await fixture.s3.send(
      new ListObjectsV2Command({ Bucket: name, ContinuationToken, ...parameters }),
    );
    keys.push(...(page.Contents ?? []).map(({ Key }) => Key ?? ''));
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken !== undefined);
  return keys;
}

/** A request as it is written, which `fetch` would tidy. */
function raw(
  url: string,
  method = 'GET',
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const [, origin = '', path = '/'] = /^(http:\/\/[^/]+)(\/.*)$/.exec(url) ?? [];
  return new Promise((resolve, reject) => {
    const outgoing = request(origin, { path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
    });
    outgoing.on('error', reject).end();
  });
}

describe.each(KEYS.map((key) => [JSON.stringify(key).slice(0, 60), key]))(
  'the key %s',
  (_, key) => {
    test('comes back from the SDK as it went in', async () => {
      await put(key);
      const got = await fixture.s3.send(new GetObjectCommand({ Bucket, Key: key }));
      expect(await got.Body?.transformToString()).toBe(`of ${key}`);
      const head = await fixture.s3.send(new HeadObjectCommand({ Bucket, Key: key }));
      expect(head.ContentLength).toBe(Buffer.byteLength(`of ${key}`));
      expect(await listAll({ Prefix: key })).toContain(key);
      expect(await listAll()).toContain(key);
      await fixture.s3.send(new DeleteObjectCommand({ Bucket, Key: key }));
      const gone = fixture.s3.send(new HeadObjectCommand({ Bucket, Key: key }));
      await expect(gone).rejects.toThrow(NotFound);
    });

    test('is read by its presigned and by its public URL', async () => {
      await put(key);
      const url = await getSignedUrl(fixture.s3, new GetObjectCommand({ Bucket, Key: key }));
      expect(await raw(url)).toEqual({ status: 200, text: `of ${key}` });
      await put(key, 'test-keys-open');
      const path = key.split('/').map(encodeURIComponent).join('/');
      const open = await raw(`${fixture.cloud.endpoints.s3}/test-keys-open/${path}`);
      expect(open).toEqual({ status: 200, text: `of ${key}` });
    });

    test('is copied and deleted among others', async () => {
      await put(key);
      const CopySource = `${Bucket}/${encodeURIComponent(key)}`;
      await fixture.s3.send(new CopyObjectCommand({ Bucket, Key: 'copy of it', CopySource }));
      const copy = await fixture.s3.send(new GetObjectCommand({ Bucket, Key: 'copy of it' }));
      expect(await copy.Body?.transformToString()).toBe(`of ${key}`);
      const Objects = [{ Key: key }, { Key: 'copy of it' }];
      const answer = await fixture.s3.send(
        new DeleteObjectsCommand({ Bucket, Delete: { Objects } }),
      );
      expect(answer.Deleted?.map((deleted) => deleted.Key)).toEqual([key, 'copy of it']);
      expect(await listAll({ Prefix: key })).toEqual([]);
    });
  },
);

test('a bare plus in a path is a space, as S3 reads it', async () => {
  await put('one two', 'test-keys-open');
  expect(await raw(`${fixture.cloud.endpoints.s3}/test-keys-open/one+two`)).toMatchObject({
    status: 200,
  });
  await fixture.s3.send(new DeleteObjectCommand({ Bucket: 'test-keys-open', Key: 'one two' }));
});

test('the bucket may be in the host, as browsers find *.localhost on this machine', async () => {
  await put('in host', 'test-keys-open');
  const { port } = new URL(fixture.cloud.endpoints.s3);
  const headers = { host: `test-keys-open.localhost:${port}` };
  const found = await raw(`${fixture.cloud.endpoints.s3}/in%20host`, 'GET', headers);
  expect(found).toEqual({ status: 200, text: 'of in host' });
  await fixture.s3.send(new DeleteObjectCommand({ Bucket: 'test-keys-open', Key: 'in host' }));
});

test('a key of 1,025 bytes is refused', async () => {
  await expect(put('x'.repeat(1025))).rejects.toMatchObject({ name: 'KeyTooLongError' });
});

describe('listings', () => {
  const ordered = ['A', 'Z', 'a', 'a!', 'a/', 'a/b', 'a0', 'b/c/d', 'z', '\u00e9', '\uffee', '😀'];

  beforeAll(async () => {
    await Promise.all(ordered.map((key) => put(key, 'test-keys-open')));
    for (const key of KEYS) {
      await fixture.s3.send(new DeleteObjectCommand({ Bucket: 'test-keys-open', Key: key }));
    }
  });

  test('are in the order of UTF-8 bytes, over pages too', async () => {
    expect(await listAll({}, 'test-keys-open')).toEqual(ordered);
    expect(await listAll({ MaxKeys: 1 }, 'test-keys-open')).toEqual(ordered);
    expect(await listAll({ MaxKeys: 5, StartAfter: 'a/' }, 'test-keys-open')).toEqual(
      ordered.slice(5),
    );
  });

  test('name each folder once, however small the pages', async () => {
    for (const MaxKeys of [1, 2, 3, 4, 5, 6, 1000]) {
      const found: string[] = [];
      let ContinuationToken: string | undefined;
      do {
        const page = await fixture.s3.send(
          new ListObjectsV2Command({
            Bucket: 'test-keys-open',
            Delimiter: '/',
            MaxKeys,
            ContinuationToken,
          }),
        );
        found.push(...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix ?? ''));
        found.push(...(page.Contents ?? []).map(({ Key }) => Key ?? ''));
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken !== undefined);
      const expected = ['A', 'Z', 'a', 'a!', 'a/', 'a0', 'b/', 'z', '\u00e9', '\uffee', '😀'];
      expect(found.sort()).toEqual(expected.sort());
    }
  });

  test('go on by marker in the older form', async () => {
    const first = await fixture.s3.send(
      new ListObjectsCommand({ Bucket: 'test-keys-open', MaxKeys: 4 }),
    );
    expect(first.NextMarker).toBe('a!');
    const next = await fixture.s3.send(
      new ListObjectsCommand({ Bucket: 'test-keys-open', Marker: first.NextMarker }),
    );
    expect(next.Contents?.map(({ Key }) => Key)).toEqual(ordered.slice(4));
  });
});

const run = promisify(execFile);

/** Whether it failed because there is no such command: the shell's answer, or that of a shim of its. */
const isMissing = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 127);

test('the AWS CLI uploads, lists, reads and deletes odd keys', async ({ skip }) => {
  const { s3, credentials } = fixture.cloud.endpoints;
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_REGION: 'us-east-1',
  };
  const aws = async (...args: string[]) =>
    (await run('aws', ['--endpoint-url', s3, 's3', ...args], { env })).stdout;
  const dir = mkdtempSync(join(tmpdir(), 'glimpse-cli-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'in'), 'by the CLI');
  const name = '100%25+é😀 "q"?#.txt';
  const key = `a  b/${name}`;
  try {
    await aws('cp', join(dir, 'in'), `s3://${Bucket}/${key}`);
  } catch (error) {
    skip(isMissing(error), 'There is no AWS CLI.');
    throw error;
  }
  expect(await listAll({ Prefix: 'a  b' })).toEqual([key]);
  // A folder is moved in one go: its keys are listed, and each is read and then deleted.
  await aws('mv', '--recursive', `s3://${Bucket}/a  b`, join(dir, 'out'));
  expect(readdirSync(join(dir, 'out'))).toEqual([name]);
  expect(readFileSync(join(dir, 'out', name), 'utf8')).toBe('by the CLI');
  expect(await listAll({ Prefix: 'a  b' })).toEqual([]);
}, 40_000);
