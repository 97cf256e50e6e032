import {
  GetBucketNotificationConfigurationCommand,
  type NotificationConfiguration,
  PutBucketNotificationConfigurationCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { aFileBecomesSummaries } from '../flows/imports.ts';
import type { Target } from '../flows/target.ts';
import * as flows from '../flows/thumbnails.ts';
import { awsClients } from './aws.ts';
import { type RunningStack, runDeployed } from './running-stack.ts';

// The deployed zips at work on what is deployed. moto keeps the buckets, queues and tables, and
// tells the queues of uploads; it would run functions in Docker, so that they run here as processes.

const aws = awsClients(inject('endpoint'));
let running: RunningStack;
let target: Target;

beforeAll(async () => {
  running = await runDeployed(aws, inject('endpoint'), inject('python'));
  const originals = running.buckets.get('ThumbnailsOriginals') ?? '';
  target = { api: running.api, s3: aws.s3, originals };
});
afterAll(() => running?.stop());

describe('a bucket whose uploads are told of', () => {
  test('uploads become thumbnails by themselves', () => flows.uploadsBecomeThumbnails(target));

  test('replaced and removed originals are followed', () =>
    flows.replacedAndRemovedOriginalsAreFollowed(target));

  test('any key works from upload to browser', () => flows.anyKeyWorksFromUploadToBrowser(target));
});

describe('a bucket that tells nobody of its uploads', () => {
  let told: NotificationConfiguration;
  const tell = (NotificationConfiguration: NotificationConfiguration) =>
    aws.s3.send(
      new PutBucketNotificationConfigurationCommand({
        Bucket: target.originals,
        NotificationConfiguration,
      }),
    );
  beforeAll(async () => {
    const { $metadata: _, ...found } = await aws.s3.send(
      new GetBucketNotificationConfigurationCommand({ Bucket: target.originals }),
    );
    told = found;
    await tell({});
  });
  afterAll(() => tell(told));

  test('cold images become thumbnails by being asked for', () =>
    flows.coldImagesBecomeThumbnails(target));

  test('a plain img shows a placeholder and then the thumbnail', () =>
    flows.aPlainImgWorks(target));

  test('hostile images are told apart', () => flows.hostileImagesAreToldApart(target));
});

test('a file becomes summaries, and an export', () => aFileBecomesSummaries(target));

test('no function failed', () => {
  const failed = /Runtime\.\w+|"level":"ERROR"|Task timed out/;
  expect(
    running
      .log()
      .split('\n')
      .filter((line) => failed.test(line)),
  ).toEqual([]);
});
