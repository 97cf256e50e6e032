import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  GetBucketNotificationConfigurationCommand,
  type NotificationConfiguration,
  PutBucketNotificationConfigurationCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { signedIn } from '../callers.ts';
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
  target = { api: running.api, s3: aws.s3, originals, token: running.token };
});
afterAll(() => running?.stop());

/** What the functions say went wrong, without what they wrote of it beside. */
const failures = () =>
  running
    .log()
    .split('\n')
    .filter((line) => /Runtime\.\w+|"level":"ERROR"|Task timed out/.test(line));
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(failures().join('\n'))));

test('every function answers, with nothing around what was deployed', async () => {
  const { functions, mappings } = running.plan;
  expect(functions).toHaveLength(9);
  for (const { name, folder } of functions) {
    for (let above = folder; above !== '/'; above = dirname(above)) {
      expect(existsSync(join(dirname(above), 'node_modules'))).toBe(false);
    }
    if (/Glimpse-(ApiFunction|SummariesApi)/.test(name)) continue;
    const fed = mappings.some(({ functionName }) => functionName === name);
    const answer = await running.invoke(name, fed ? { Records: [] } : { source: 'aws.events' });
    const payload = fed ? '{"batchItemFailures":[]}' : 'null';
    expect([name, answer]).toEqual([name, { kind: 'answer', payload }]);
  }
  for (const path of ['/galleries', '/imports', '/fleet']) {
    const { status } = await fetch(running.api + path, { headers: signedIn(running) });
    expect([path, status]).toEqual([path, 200]);
    expect((await fetch(running.api + path)).status).toBe(401);
  }
});

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

test('what there is no route for is told as any other error', () =>
  flows.whatThereIsNoRouteForIsToldAsAnError(target));

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
