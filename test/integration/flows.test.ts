import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { type LocalCloud, startLocalCloud } from '../../local/cloud.ts';
import type { Grant } from '../../local/iam/authority.ts';
import { encodeRequest } from '../../shared/messages/thumbnail-work.ts';
import { aFileBecomesSummaries, everythingIsLookedAt } from '../flows/imports.ts';
import * as rare from '../flows/rare-paths.ts';
import { silentStack, type Template } from '../flows/silent-stack.ts';
import { type Target, thumbnails, until } from '../flows/target.ts';
import * as flows from '../flows/thumbnails.ts';

const root = resolve(import.meta.dirname, '../..');

interface Running {
  cloud: LocalCloud;
  target: Target;
  /** What the functions measured so far, summed. */
  measured: Map<string, number>;
  /** What the functions and AWS itself were refused. */
  denied: string[];
  /** The most memory that an invocation of the worker used, in MB. */
  peakMemory: () => number;
  stop: () => Promise<void>;
}

async function start(cdkOut: string): Promise<Running> {
  const stateDir = await mkdtemp(join(tmpdir(), 'glimpse-flows-'));
  const measured = new Map<string, number>();
  const denied: string[] = [];
  let peak = 0;
  const cloud = await startLocalCloud({
    root,
    stateDir,
    cdkOut,
    onDenied: (line) => denied.push(line),
    onLog: (_, text) => {
      for (const line of text.split('\n')) {
        addMetrics(line, measured);
        peak = Math.max(peak, Number(/Max Memory Used: (\d+) MB/.exec(line)?.[1] ?? 0));
      }
    },
  });
  const { s3, region, credentials, buckets, api } = cloud.endpoints;
  const client = new S3Client({ endpoint: s3, region, credentials, forcePathStyle: true });
  return {
    cloud,
    target: { api, s3: client, originals: buckets.originals ?? '' },
    measured,
    denied,
    peakMemory: () => peak,
    stop: async () => {
      await cloud.stop();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}

/** Reads the embedded metric format, as CloudWatch does. */
function addMetrics(line: string, measured: Map<string, number>): void {
  if (!line.startsWith('{"_aws"')) return;
  const metrics = z.record(z.string(), z.unknown()).parse(JSON.parse(line));
  for (const [name, value] of Object.entries(metrics)) {
    const values = [value].flat().filter((each) => typeof each === 'number');
    const sum = values.reduce((total, each) => total + each, 0);
    if (values.length > 0) measured.set(name, (measured.get(name) ?? 0) + sum);
  }
}

const cdkOut = inject('cdkOut');

/**
 * The workers of chunks on a machine whose clock is ahead: only such a one looks at what the others do
 * before it begins, to learn the time.
 */
function withFastClocks(template: Template): void {
  const ahead = 'const { now } = Date; Date.now = () => now() + 2000;';
  const options = `--enable-source-maps --import=data:text/javascript,${encodeURIComponent(ahead)}`;
  const workers = Object.keys(template.Resources).filter(
    (id) =>
      /^Summaries\w+Worker/.test(id) && template.Resources[id].Type === 'AWS::Lambda::Function',
  );
  expect(workers).toHaveLength(2);
  for (const id of workers)
    template.Resources[id].Properties.Environment.Variables.NODE_OPTIONS = options;
}

/** What the flows have used of what is granted, in one cloud or another. */
const used = new Set<string>();
const nameOf = ({ role, action, resource }: Grant) => `${role}: ${action} on ${resource}`;

function unusedOf({ cloud }: Running): string[] {
  const grants = cloud.grants();
  for (const grant of grants) if (grant.used) used.add(nameOf(grant));
  return grants.map(nameOf).filter((name) => !used.has(name));
}

describe('a bucket whose uploads are told of', () => {
  let running: Running;
  beforeAll(async () => {
    running = await start(cdkOut);
  });
  afterAll(async () => {
    unusedOf(running);
    expect(running.denied).toEqual([]);
    await running.stop();
  });

  test('uploads become thumbnails by themselves', () =>
    flows.uploadsBecomeThumbnails(running.target));

  test('replaced and removed originals are followed', () =>
    flows.replacedAndRemovedOriginalsAreFollowed(running.target));

  test('any key works from upload to browser', () =>
    flows.anyKeyWorksFromUploadToBrowser(running.target));

  test('what there is no route for is told as any other error', () =>
    flows.whatThereIsNoRouteForIsToldAsAnError(running.target));

  test('a file becomes summaries, and an export', () => aFileBecomesSummaries(running.target));

  test('a dead letter is recorded on its image', async () => {
    const { region, credentials, queues, sqs } = running.cloud.endpoints;
    const client = new SQSClient({ endpoint: sqs, region, credentials });
    const image = 'dead/letter ü.jpg';
    await client.send(
      new SendMessageCommand({
        QueueUrl: queues.onDemandDeadLetters,
        MessageBody: encodeRequest(image),
      }),
    );
    // Asking for the image sooner would have it made.
    const consumer = running.cloud.endpoints.functions.ThumbnailsFailures ?? '';
    await until(
      async () => running.cloud.counts(consumer),
      ({ invocations, running: busy }) => invocations > 0 && busy === 0,
    );
    const [found] = await thumbnails(running.target, [image]);
    expect(found?.failure?.class).toBe('transient');
  });
});

describe('a bucket that tells nobody of its uploads', () => {
  let running: Running;
  let folder: string;
  beforeAll(async () => {
    folder = await silentStack(root, cdkOut, withFastClocks);
    running = await start(folder);
  });
  afterAll(async () => {
    await running.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('cold images become thumbnails by being asked for, and no answer waits for them', () =>
    flows.coldImagesBecomeThumbnails(running.target));

  test('a plain img shows a placeholder and then the thumbnail', () =>
    flows.aPlainImgWorks(running.target));

  test('fifty callers who ask for one page of 80 cold images cause 80 generations', async () => {
    const before = running.measured.get('ImagesMade') ?? 0;
    const images = await flows.fiftyCallersAskForOnePage(running.target);
    const made = await until(
      async () => (running.measured.get('ImagesMade') ?? 0) - before,
      (count) => count >= images.length,
    );
    console.log(`jobs ÷ misses = ${(made / images.length).toFixed(2)}`);
    expect(made).toBe(images.length);
  });

  test('hostile images are told apart, and none costs more than the function has', async () => {
    await flows.hostileImagesAreToldApart(running.target);
    expect(running.peakMemory()).toBeGreaterThan(50);
    expect(running.peakMemory()).toBeLessThan(1769);
  }, 120_000);

  test('there is no grant that none of all these uses, when things go wrong, too', async () => {
    const { endpoints } = running.cloud;
    const { region, credentials, buckets, tables, queues, functions, outputs } = endpoints;
    const { images = '', imports = '' } = tables;
    const wreck = {
      ...running.target,
      sqs: new SQSClient({ endpoint: endpoints.sqs, region, credentials }),
      dynamo: DynamoDBDocumentClient.from(
        new DynamoDBClient({ endpoint: endpoints.dynamodb, region, credentials }),
      ),
      variants: JSON.parse(outputs.Variants ?? '[]'),
      importsBucket: buckets.imports ?? '',
      tables: { images, imports },
      queues,
    };
    await Promise.all([
      rare.workersOfAnImportDied(wreck, 'interactive'),
      rare.workersOfAnImportDied(wreck, 'bulk'),
      rare.anImportIsCutOff(wreck, 'interactive'),
      rare.anImportIsCutOff(wreck, 'bulk'),
      rare.aLargeExportFails(wreck),
      rare.jobsGoAstray(wreck),
      rare.anImageIsHeld(wreck),
      flows.aFormUploadsAnImage(running.target),
      everythingIsLookedAt(running.target),
    ]);
    // One that its schedule has begun looks after what there was when it began, for up to a minute.
    const reaper = functions.SummariesReaper ?? '';
    running.cloud.killFunction(reaper);
    void running.cloud.invoke(reaper, {});
    const unused = await until(
      async () => unusedOf(running),
      (left) => left.length === 0,
    ).catch(() => unusedOf(running));
    expect(unused).toEqual([]);
    expect(running.denied).toEqual([]);
  }, 120_000);
});
