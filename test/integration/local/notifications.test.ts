import * as s3 from '@aws-sdk/client-s3';
import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { S3EventRecord } from 'aws-lambda';
import { expect } from 'vitest';
import { type Fixture, until } from './fixture-stack.ts';
import { test } from './shared-cloud.ts';

let fixture: Fixture;
const Bucket = 'test-told';

test.beforeAll(({ shared }) => {
  fixture = shared;
});

/** So many events, in whatever order they come. */
async function events(count: number): Promise<S3EventRecord[]> {
  const found: S3EventRecord[] = [];
  await until(async () => {
    const QueueUrl = fixture.cloud.endpoints.queues.events;
    const { Messages = [] } = await fixture.sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
    );
    for (const { Body = '', ReceiptHandle } of Messages) {
      found.push(...JSON.parse(Body).Records);
      await fixture.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
    return found.length >= count ? found : undefined;
  });
  expect(found).toHaveLength(count);
  return found.sort((a, b) => (a.s3.object.sequencer < b.s3.object.sequencer ? -1 : 1));
}

const put = (Key: string, Body = 'bytes') =>
  fixture.s3.send(new s3.PutObjectCommand({ Bucket, Key, Body }));

test("an upload is told in S3's words, its key encoded as S3 encodes it", async () => {
  const { ETag } = await put('a b/c+d%25é😀.jpg');
  const [event] = await events(1);
  expect(event).toMatchObject({
    eventVersion: '2.1',
    eventSource: 'aws:s3',
    awsRegion: 'us-east-1',
    eventName: 'ObjectCreated:Put',
    eventTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    s3: {
      s3SchemaVersion: '1.0',
      bucket: { name: Bucket, arn: `arn:aws:s3:::${Bucket}` },
      object: {
        key: 'a+b/c%2Bd%2525%C3%A9%F0%9F%98%80.jpg',
        size: 5,
        eTag: ETag?.replaceAll('"', ''),
        sequencer: expect.stringMatching(/^[0-9A-F]{16,}$/),
      },
    },
  });
});

test('each way of creating and removing has its own name', async () => {
  await put('one');
  await fixture.s3.send(
    new s3.CopyObjectCommand({ Bucket, Key: 'two', CopySource: `${Bucket}/one` }),
  );
  const { UploadId } = await fixture.s3.send(
    new s3.CreateMultipartUploadCommand({ Bucket, Key: 'three' }),
  );
  const part = { Bucket, Key: 'three', UploadId, PartNumber: 1 };
  const { ETag } = await fixture.s3.send(new s3.UploadPartCommand({ ...part, Body: 'part' }));
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  await fixture.s3.send(
    new s3.CompleteMultipartUploadCommand({ Bucket, Key: 'three', UploadId, MultipartUpload }),
  );
  await fixture.s3.send(new s3.DeleteObjectCommand({ Bucket, Key: 'one' }));
  const Objects = [{ Key: 'two' }, { Key: 'three' }];
  await fixture.s3.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  const told = await events(6);
  expect(told.map((event) => [event.eventName, event.s3.object.key])).toEqual([
    ['ObjectCreated:Put', 'one'],
    ['ObjectCreated:Copy', 'two'],
    ['ObjectCreated:CompleteMultipartUpload', 'three'],
    ['ObjectRemoved:Delete', 'one'],
    ['ObjectRemoved:Delete', 'two'],
    ['ObjectRemoved:Delete', 'three'],
  ]);
  expect(told[2]?.s3.object.size).toBe(4);
  expect(told[3]?.s3.object).not.toHaveProperty('eTag');
});

test('the greatest sequencer of racing uploads is that of the bytes that stay', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, index) => put('raced', `upload ${index}`)));
  const last = (await events(20)).at(-1);
  const { ETag } = await fixture.s3.send(new s3.HeadObjectCommand({ Bucket, Key: 'raced' }));
  expect(last?.s3.object.eTag).toBe(ETag?.replaceAll('"', ''));
});

test('what is refused, and what happens elsewhere, is not told', async () => {
  const exists = { Bucket, Key: 'raced', Body: 'x', IfNoneMatch: '*' };
  await expect(fixture.s3.send(new s3.PutObjectCommand(exists))).rejects.toThrow();
  await fixture.s3.send(new s3.PutObjectCommand({ Bucket: 'test-quiet', Key: 'a', Body: 'x' }));
  await put('told');
  expect((await events(1)).map((event) => event.s3.object.key)).toEqual(['told']);
});
