import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { type LocalCloud, startLocalCloud } from '../../local/cloud.ts';
import { readIssuerKey } from '../../local/issuer/issuer-key.ts';
import { DEVELOPER, PEOPLE } from '../../local/issuer/people.ts';
import { createTokens } from '../../local/issuer/tokens.ts';
import { encodeRequest } from '../../shared/messages/thumbnail-work.ts';
import { everyRouteAnswersEachAsItShould } from '../flows/access.ts';
import { aFileBecomesSummaries } from '../flows/imports.ts';
import { silentStack } from '../flows/silent-stack.ts';
import { type Target, thumbnails, until } from '../flows/target.ts';
import * as flows from '../flows/thumbnails.ts';

const root = resolve(import.meta.dirname, '../..');

interface Running {
  cloud: LocalCloud;
  target: Target;
  /** What the functions measured so far, summed. */
  measured: Map<string, number>;
  /** The most memory that an invocation of the worker used, in MB. */
  peakMemory: () => number;
  stop: () => Promise<void>;
}

async function start(cdkOut: string): Promise<Running> {
  const stateDir = await mkdtemp(join(tmpdir(), 'glimpse-flows-'));
  const measured = new Map<string, number>();
  let peak = 0;
  const cloud = await startLocalCloud({
    root,
    stateDir,
    cdkOut,
    onLog: (_, text) => {
      for (const line of text.split('\n')) {
        addMetrics(line, measured);
        peak = Math.max(peak, Number(/Max Memory Used: (\d+) MB/.exec(line)?.[1] ?? 0));
      }
    },
  });
  const { s3, region, credentials, buckets, api, token = '' } = cloud.endpoints;
  const client = new S3Client({ endpoint: s3, region, credentials, forcePathStyle: true });
  return {
    cloud,
    target: { api, s3: client, originals: buckets.originals ?? '', token },
    measured,
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

/** Of an issuer that says that it is ours. */
const otherKey = async () => join(await mkdtemp(join(tmpdir(), 'glimpse-forger-')), 'key.json');

/** The same claims, by the algorithm that is none. */
function unsigned(token: string): string {
  const header = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  return `${header}.${token.split('.')[1]}.`;
}

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({
      Type: z.string(),
      Properties: z.looseObject({ RouteKey: z.string().optional() }).default({}),
    }),
  ),
});

function routesOf(folder: string): string[] {
  const text = readFileSync(join(folder, 'Glimpse.template.json'), 'utf8');
  return Object.values(templateSchema.parse(JSON.parse(text)).Resources)
    .filter(({ Type }) => Type === 'AWS::ApiGatewayV2::Route')
    .map(({ Properties }) => Properties.RouteKey ?? '')
    .sort();
}

/** Each with a name of their own, so that one's bound is not all of theirs. */
const fifty = ({ cloud }: Running): Promise<string[]> =>
  Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      cloud.tokenFor({ ...DEVELOPER, id: `viewer-${index}` }),
    ),
  );

describe('a bucket whose uploads are told of', () => {
  let running: Running;
  beforeAll(async () => {
    running = await start(cdkOut);
  });
  afterAll(() => running.stop());

  test('uploads become thumbnails by themselves', () =>
    flows.uploadsBecomeThumbnails(running.target));

  test('replaced and removed originals are followed', () =>
    flows.replacedAndRemovedOriginalsAreFollowed(running.target));

  test('any key works from upload to browser', () =>
    flows.anyKeyWorksFromUploadToBrowser(running.target));

  test('what there is no route for is told as any other error', () =>
    flows.whatThereIsNoRouteForIsToldAsAnError(running.target));

  test('a file becomes summaries, and an export', () => aFileBecomesSummaries(running.target));

  test('every route answers each as it should, and nobody without a good token', async () => {
    const { cloud, target } = running;
    const picture = await sharp({
      create: { width: 90, height: 60, channels: 3, background: 'teal' },
    })
      .jpeg()
      .toBuffer();
    const somebody = (id: string) => PEOPLE.find((each) => each.id === id) ?? expect.fail();
    const now = Math.floor(Date.now() / 1000);
    const forger = createTokens(cloud.endpoints.issuer, await readIssuerKey(await otherKey()));
    const asked = await everyRouteAnswersEachAsItShould(
      target,
      {
        worthless: {
          expired: await cloud.tokenFor(DEVELOPER, { exp: now - 1 }),
          early: await cloud.tokenFor(DEVELOPER, { nbf: now + 600 }),
          'wrong audience': await cloud.tokenFor(DEVELOPER, { aud: 'shop' }),
          'wrong issuer': await cloud.tokenFor(DEVELOPER, { iss: 'http://127.0.0.1:9' }),
          forged: await forger.access(DEVELOPER),
          unsigned: unsigned(await cloud.tokenFor(DEVELOPER)),
          'no token': 'glimpse',
        },
        owner: await cloud.tokenFor(somebody('olive')),
        reader: await cloud.tokenFor(somebody('rhea')),
        tenant: await cloud.tokenFor(somebody('tariq')),
        operator: await cloud.tokenFor(somebody('oscar')),
      },
      picture,
    );
    expect(asked.sort()).toEqual(routesOf(cdkOut).filter((key) => !key.startsWith('OPTIONS')));
  });

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
    folder = await silentStack(root, cdkOut);
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
    const images = await flows.fiftyCallersAskForOnePage(running.target, await fifty(running));
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
});
