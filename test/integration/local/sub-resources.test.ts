import * as s3 from '@aws-sdk/client-s3';
import { describe, expect } from 'vitest';
import type { Fixture } from './fixture-stack.ts';
import { test } from './shared-cloud.ts';

// What the engine takes for the plain operation: each of these would replace the object's bytes,
// delete it or its bucket, or succeed and do nothing.

let fixture: Fixture;
const Bucket = 'test-photos';
const Key = 'a/b.jpg';
const Tagging = { TagSet: [{ Key: 'a', Value: 'b' }] };

test.beforeAll(async ({ shared }) => {
  fixture = shared;
  await fixture.s3.send(new s3.PutObjectCommand({ Bucket, Key, Body: 'the bytes' }));
});

const refused = [
  [
    'PutObjectTagging',
    () => fixture.s3.send(new s3.PutObjectTaggingCommand({ Bucket, Key, Tagging })),
  ],
  [
    'DeleteObjectTagging',
    () => fixture.s3.send(new s3.DeleteObjectTaggingCommand({ Bucket, Key })),
  ],
  ['GetObjectTagging', () => fixture.s3.send(new s3.GetObjectTaggingCommand({ Bucket, Key }))],
  [
    'PutObjectAcl',
    () => fixture.s3.send(new s3.PutObjectAclCommand({ Bucket, Key, ACL: 'public-read' })),
  ],
  ['GetObjectAcl', () => fixture.s3.send(new s3.GetObjectAclCommand({ Bucket, Key }))],
  [
    'PutBucketCors',
    () =>
      fixture.s3.send(
        new s3.PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [] } }),
      ),
  ],
  ['DeleteBucketCors', () => fixture.s3.send(new s3.DeleteBucketCorsCommand({ Bucket }))],
  ['GetBucketPolicy', () => fixture.s3.send(new s3.GetBucketPolicyCommand({ Bucket }))],
  [
    'PutBucketPolicy',
    () => fixture.s3.send(new s3.PutBucketPolicyCommand({ Bucket, Policy: '{}' })),
  ],
  [
    'PutBucketNotificationConfiguration',
    () =>
      fixture.s3.send(
        new s3.PutBucketNotificationConfigurationCommand({
          Bucket,
          NotificationConfiguration: {},
        }),
      ),
  ],
  ['GetBucketVersioning', () => fixture.s3.send(new s3.GetBucketVersioningCommand({ Bucket }))],
  ['ListObjectVersions', () => fixture.s3.send(new s3.ListObjectVersionsCommand({ Bucket }))],
  ['DeleteBucket', () => fixture.s3.send(new s3.DeleteBucketCommand({ Bucket }))],
  [
    'GetObject of a version',
    () => fixture.s3.send(new s3.GetObjectCommand({ Bucket, Key, VersionId: 'v1' })),
  ],
  [
    'PutObject with tags',
    () => fixture.s3.send(new s3.PutObjectCommand({ Bucket, Key, Body: 'x', Tagging: 'a=b' })),
  ],
  [
    'PutObject that anyone may read',
    () => fixture.s3.send(new s3.PutObjectCommand({ Bucket, Key, Body: 'x', ACL: 'public-read' })),
  ],
] as const;

describe.each(refused)('%s', (_name, call) => {
  test('is refused, and the object is as it was', async () => {
    await expect(call()).rejects.toMatchObject({
      name: 'NotImplemented',
      $metadata: { httpStatusCode: 501 },
    });
    const got = await fixture.s3.send(new s3.GetObjectCommand({ Bucket, Key }));
    expect(await got.Body?.transformToString()).toBe('the bytes');
  });
});

test('a PUT that must not replace anything replaces nothing', async () => {
  const put = (IfNoneMatch: string, key: string) =>
    fixture.s3.send(new s3.PutObjectCommand({ Bucket, Key: key, Body: 'other', IfNoneMatch }));
  await expect(put('*', Key)).rejects.toMatchObject({ name: 'PreconditionFailed' });
  const got = await fixture.s3.send(new s3.GetObjectCommand({ Bucket, Key }));
  expect(await got.Body?.transformToString()).toBe('the bytes');
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => put('*', 'a race')));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('an object above the limit of the engine comes back whole', async () => {
  const Body = Buffer.alloc(30_000_001, 'glimpse');
  await fixture.s3.send(new s3.PutObjectCommand({ Bucket, Key: 'large', Body }));
  const got = await fixture.s3.send(new s3.GetObjectCommand({ Bucket, Key: 'large' }));
  const bytes = Buffer.from((await got.Body?.transformToByteArray()) ?? []);
  expect(bytes.equals(Body)).toBe(true);
});

test('an upload in parts becomes one object', async () => {
  const begun = await fixture.s3.send(
    new s3.CreateMultipartUploadCommand({ Bucket, Key: 'in parts' }),
  );
  const { UploadId } = begun;
  expect(begun.Key).toBe('in parts');
  const Parts: s3.CompletedPart[] = [];
  for (const [index, Body] of [Buffer.alloc(5 * 1024 * 1024, 'a'), Buffer.from('b')].entries()) {
    const PartNumber = index + 1;
    const { ETag } = await fixture.s3.send(
      new s3.UploadPartCommand({ Bucket, Key: 'in parts', UploadId, PartNumber, Body }),
    );
    Parts.push({ PartNumber, ETag });
  }
  const done = await fixture.s3.send(
    new s3.CompleteMultipartUploadCommand({
      Bucket,
      Key: 'in parts',
      UploadId,
      MultipartUpload: { Parts },
    }),
  );
  expect(done.Key).toBe('in parts');
  const head = await fixture.s3.send(new s3.HeadObjectCommand({ Bucket, Key: 'in parts' }));
  expect(head.ContentLength).toBe(5 * 1024 * 1024 + 1);
});

test('what is stored with an object comes back with it, and a presigned GET may override it', async () => {
  await fixture.s3.send(
    new s3.PutObjectCommand({
      Bucket,
      Key: 'with headers',
      Body: 'x',
      ContentType: 'image/webp',
      CacheControl: 'public, max-age=31536000, immutable',
      Metadata: { one: '1' },
    }),
  );
  const got = await fixture.s3.send(
    new s3.GetObjectCommand({ Bucket, Key: 'with headers', ResponseContentDisposition: 'inline' }),
  );
  expect(got).toMatchObject({
    ContentType: 'image/webp',
    CacheControl: 'public, max-age=31536000, immutable',
    Metadata: { one: '1' },
    ContentDisposition: 'inline',
  });
});
