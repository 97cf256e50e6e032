import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { readDashboard } from '../../local/dashboards/dashboard-body.ts';
import type { Grant } from '../../local/iam/authority.ts';
import { readIssuerKey } from '../../local/issuer/issuer-key.ts';
import { DEVELOPER, PEOPLE } from '../../local/issuer/people.ts';
import { createTokens } from '../../local/issuer/tokens.ts';
import type { UnitSample } from '../../local/metrics/embedded-format.ts';
import { statisticOf } from '../../local/metrics/statistic.ts';
import { loadStack } from '../../local/template/load.ts';
import { encodeRequest } from '../../shared/messages/thumbnail-work.ts';
import type { MetricDefinition } from '../../shared/metrics/definition.ts';
import { SUMMARY_METRICS } from '../../shared/metrics/summaries.ts';
import { THUMBNAIL_METRICS } from '../../shared/metrics/thumbnails.ts';
import { keyOf as keyOfImage } from '../../shared/thumbnails/images-table.ts';
import { signedIn } from '../callers.ts';
import { everyRouteAnswersEachAsItShould } from '../flows/access.ts';
import {
  aFileBecomesSummaries,
  createImport,
  everythingIsLookedAt,
  json,
  upload,
} from '../flows/imports.ts';
import * as rare from '../flows/rare-paths.ts';
import { silentStack, type Template } from '../flows/silent-stack.ts';
import { gallery, put, thumbnails, until } from '../flows/target.ts';
import * as flows from '../flows/thumbnails.ts';
import { takeGrant } from '../flows/without-grants.ts';
import { keyOf, type Running, reap, start, wreckOf } from './running-stack.ts';

const root = resolve(import.meta.dirname, '../..');

const cdkOut = inject('cdkOut');

const SQUARE = { create: { width: 90, height: 90, channels: 3, background: 'teal' } } as const;

/** What the functions of all clouds here have measured, by name and dimensions. */
const emitted = new Map<string, UnitSample>();

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
    running = await start(cdkOut, emitted);
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

  test('every route answers each as it should, and nobody without a good token', async () => {
    const { cloud, target } = running;
    const picture = await sharp(SQUARE).jpeg().toBuffer();
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
    const image = 'dead/letter ü.jpg';
    await rare.send(wreckOf(running), 'onDemandDeadLetters', encodeRequest(image));
    // Asking for the image sooner would have it made.
    const consumer = running.cloud.endpoints.functions.ThumbnailsFailures ?? '';
    await until(
      async () => running.cloud.counts(consumer),
      ({ invocations, running: busy }) => invocations > 0 && busy === 0,
    );
    const [found] = await thumbnails(running.target, [image]);
    expect(found?.failure?.class).toBe('transient');
  });

  describe('what fails', () => {
    const CATALOGUE = 'A mug for campfires that no log may hold';
    let importId: string;
    beforeAll(async () => {
      importId = await failInPlaces(running, CATALOGUE);
    });

    const linesOf = (message: string) => running.linesOf(message);

    test('is in a log once, with the import, the chunk, the row and the code', () => {
      expect(linesOf('a row failed')).toMatchObject([
        { importId, chunk: 1, row: 2, code: 'filtered' },
      ]);
      expect(linesOf('a call failed')).toMatchObject([
        { importId, chunk: 1, row: 3, code: 'provider-failed' },
      ]);
      const given = linesOf('a chunk was given up');
      expect(given).toHaveLength(2);
      expect(given).toContainEqual(expect.objectContaining({ importId: 'unknown', chunk: 7 }));
      expect(linesOf('a job was given up')).toMatchObject([{ importId: 'unknown', kind: 'send' }]);
    });

    test('is in a log once, with the image, its gallery and the class or the code', () => {
      const failed = linesOf('image').filter(({ image }) => image === 'no/such.jpg');
      expect(failed).toMatchObject([
        { image: 'no/such.jpg', gallery: 'no', class: 'missing', level: 'WARN' },
      ]);
      const again = linesOf('a message will be tried again');
      expect(again).toContainEqual(
        expect.objectContaining({
          images: ['held/1.jpg'],
          error: expect.objectContaining({ code: 'busy' }),
        }),
      );
      expect(linesOf('a message was dropped')).toMatchObject([
        { body: 'no JSON', error: { code: 'malformed-message' } },
      ]);
    });

    test('is measured in the place of AWS’s services, under their names, of what was used', async () => {
      const { cloud } = running;
      const { functions, api } = cloud.endpoints;
      const grid = { from: Math.floor(Date.now() / 60_000) * 60 - 600, steps: 1, period: 660 };
      const read = (namespace: string, name: string, dimensions: Record<string, string>) =>
        cloud.metrics.read({ namespace, name, dimensions }, statisticOf('Sum'), grid)[0];
      const worker = functions.ThumbnailsWorker ?? '';
      const { invocations, errors } = cloud.counts(worker);
      expect(invocations).toBeGreaterThan(0);
      const ofWorker = (name: string) => read('AWS/Lambda', name, { FunctionName: worker });
      expect(ofWorker('Invocations')).toBe(invocations);
      expect(ofWorker('Errors')).toBe(errors);
      expect(ofWorker('Duration')).toBeGreaterThan(0);
      expect((await fetch(`${api}/nothing`, { headers: signedIn(running.target) })).status).toBe(
        404,
      );
      const apiId = cloud.metrics.names().find(({ namespace }) => namespace === 'AWS/ApiGateway')
        ?.dimensions.ApiId;
      expect(read('AWS/ApiGateway', '4xx', { ApiId: apiId ?? '' })).toBeGreaterThanOrEqual(1);
      expect(read('AWS/ApiGateway', '5xx', { ApiId: apiId ?? '' })).toBe(0);
    });

    test('is told without the catalogue’s text, a key or a secret', () => {
      const { outputs, credentials } = running.cloud.endpoints;
      expect(outputs.ImportsTable).toBeTruthy();
      const logs = running.logs();
      expect(logs).toContain(importId);
      for (const secret of [CATALOGUE, credentials.secretAccessKey, 'ASIA', 'sk-']) {
        expect(logs).not.toContain(secret);
      }
    });
  });
});

describe('a bucket that tells nobody of its uploads', () => {
  let running: Running;
  let folder: string;
  beforeAll(async () => {
    folder = await silentStack(root, cdkOut, withFastClocks);
    running = await start(folder, emitted);
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
    const images = await flows.fiftyCallersAskForOnePage(running.target, await fifty(running));
    const made = await until(
      async () =>
        running
          .linesOf('image')
          .filter(({ kind, image }) => kind === 'made' && images.includes(String(image))),
      ({ length }) => length >= images.length,
    );
    console.log(`jobs ÷ misses = ${(made.length / images.length).toFixed(2)}`);
    expect(made.map(({ image }) => image).sort()).toEqual(images.toSorted());
    // As many as are measured, with those of the tests before.
    const all = () => running.linesOf('image').filter(({ kind }) => kind === 'made').length;
    await until(
      async () => running.measured.get('ImagesMade') ?? 0,
      (count) => count === all(),
    );
  });

  test('hostile images are told apart, and none costs more than the function has', async () => {
    await flows.hostileImagesAreToldApart(running.target);
    expect(running.peakMemory()).toBeGreaterThan(50);
    expect(running.peakMemory()).toBeLessThan(1769);
  }, 120_000);

  test('there is no grant that none of all these uses, when things go wrong, too', async () => {
    const wreck = wreckOf(running);
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
    void reap(running);
    const unused = await until(
      async () => unusedOf(running),
      (left) => left.length === 0,
    ).catch(() => unusedOf(running));
    expect(unused).toEqual([]);
    expect(running.denied).toEqual([]);
  }, 120_000);

  test('work that must wait longer than an invocation has is handed back', async () => {
    const wreck = wreckOf(running);
    await rare.theFleetMustWait(wreck);
    await Promise.all(
      (['interactive', 'bulk'] as const).map(async (mode) => {
        let importId = await rare.anImportIsResumed(wreck, mode);
        const outcome = () =>
          running.linesOf('chunk').find((line) => line.importId === importId)?.kind;
        const look = async () => {
          // A process that has a part of the account from before begins at once.
          if (outcome() === 'settled') importId = await rare.anImportIsResumed(wreck, mode);
          return outcome();
        };
        await until(look, (kind) => kind === 'handed-back');
      }),
    );
  });
});

describe('a stack with too few grants', () => {
  const REMOVED = [
    ['ApiFunctionRole', 'dynamodb:BatchGetItem'],
    ['ApiFunctionRole', 'sqs:SendMessage'],
    ['ThumbnailsWorkerRole', 's3:PutObject'],
  ] as const;
  let running: Running;
  let folder: string;
  beforeAll(async () => {
    folder = await silentStack(root, cdkOut, (template) => {
      for (const [role, action] of REMOVED) expect(takeGrant(template, role, action)).toBe(1);
    });
    running = await start(folder, emitted);
    await put(running.target, 'few/1.jpg', await sharp(SQUARE).jpeg().toBuffer());
  });
  afterAll(async () => {
    await running.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('fails the request that needs one, and names it', async () => {
    const asked = thumbnails(running.target, ['cold/never asked for.jpg']);
    await expect(asked).rejects.toThrow('answered 500');
    expect(running.denied).toContainEqual(
      'AccessDenied: the function glimpse-api-function called dynamodb:BatchGetItem on arn:aws:dynamodb:us-east-1:000000000000:table/glimpse-thumbnails-images, which its role glimpse-api-function-role does not allow in the template; grant it there (cdk/), or AWS will refuse it too.',
    );
  });

  test('answers without the images that it cannot send for, and measures those', async () => {
    const [found] = await gallery(running.target, 'few');
    expect(found?.state).toBe('pending');
    expect(running.denied.at(-1)).toContain(
      'the function glimpse-api-function called sqs:SendMessage on',
    );
    await until(
      async () => running.measured.get('JobsUnsent'),
      (unsent) => unsent === 1,
    );
  });

  test('keeps the message on the queue of a worker that lacks one, and names it', async () => {
    await rare.send(wreckOf(running), 'onDemand', encodeRequest('few/1.jpg'));
    const ofWorker = 'the function glimpse-thumbnails-worker called ';
    const line = await until(
      async () => running.denied.find((each) => each.includes(ofWorker)) ?? '',
      (found) => found !== '',
    );
    expect(line).toContain(
      's3:PutObject on arn:aws:s3:::glimpse-thumbnails/few/*, which its role glimpse-thumbnails-worker-role does not allow',
    );
  });
});

describe('what the functions measured in all of this', () => {
  const TABLES: Readonly<Record<string, MetricDefinition>> = {
    ...THUMBNAIL_METRICS,
    ...SUMMARY_METRICS,
  };
  test('is what the dashboards show: the same names, units and dimensions', async () => {
    const origins = {
      web: 'http://web',
      api: 'http://api',
      s3: 'http://s3',
      sqs: 'http://sqs',
      issuer: 'http://issuer',
    };
    const { dashboards } = await loadStack(cdkOut, origins);
    const shown = dashboards
      .flatMap(({ name, body }) => readDashboard(name, body))
      .flatMap((widget) => (widget.kind === 'text' ? [] : widget.lines))
      .filter((line) => line.kind === 'metric')
      .filter(({ namespace }) => namespace === 'Glimpse');
    expect(shown.length).toBeGreaterThan(60);
    const missing = new Set(shown.map(keyOf).filter((key) => !emitted.has(key)));
    expect([...missing]).toEqual([]);
  });

  test('has the unit and the dimensions that its table gives it', () => {
    expect(emitted.size).toBeGreaterThan(50);
    for (const { namespace, name, unit, dimensions } of emitted.values()) {
      const { service = '', ...others } = dimensions;
      const table = TABLES[name];
      expect({ namespace, name, unit }).toEqual({ namespace: 'Glimpse', name, unit: table?.unit });
      expect(table?.services).toContain(service);
      expect(Object.keys(others)).toEqual(Object.keys(table?.dimensions ?? {}));
    }
  });
});

/** A failure of each kind that can be had in a moment. */
async function failInPlaces(running: Running, catalogue: string): Promise<string> {
  const { cloud, target } = running;
  const { api, provider } = cloud.endpoints;
  const create = (name: string) => createImport(target, { name, mode: 'bulk' });
  const { importId, upload: form } = await create('goods.csv');
  const faults = [
    { fault: 'filtered', row: `${importId}/2` },
    { fault: 'server-error', row: `${importId}/3`, attempt: 1 },
  ];
  await fetch(`${provider}/configure`, { method: 'POST', body: JSON.stringify({ faults }) });
  await upload(form, `id,text\n1,${catalogue}\n2,${catalogue}\n3,${catalogue}\n`);
  const refused = await create('broken.csv');
  await upload(refused.upload, `id,text\n1,"${catalogue}\n`);

  const wreck = wreckOf(running);
  const send = (queue: string, body: string) => rare.send(wreck, queue, body);
  await send('bulkDeadLetters', JSON.stringify({ importId: 'unknown', chunk: 7, round: 0 }));
  await send('jobsDeadLetters', JSON.stringify({ kind: 'send', importId: 'unknown' }));
  await send('eagerDeadLetters', encodeRequest('dead/1.jpg'));
  await send('onDemand', 'no JSON');
  const claim = { kind: 'working', owner: 'a test', until: Date.now() + 600_000 };
  await wreck.dynamo.send(
    new PutCommand({
      TableName: wreck.tables.images,
      Item: { ...keyOfImage('held/1.jpg'), variants: {}, deaths: 0, claim },
    }),
  );
  await send('onDemand', encodeRequest('held/1.jpg'));
  // Removed after it was asked for.
  await send('onDemand', encodeRequest('no/such.jpg'));
  await rare.anImageKillsItsWorkers(wreck, 'no/cure.jpg');
  const failureOf = async (image: string) => {
    const read = new GetCommand({ TableName: wreck.tables.images, Key: keyOfImage(image) });
    return (await wreck.dynamo.send(read)).Item?.failure;
  };
  await until(
    () => Promise.all(['no/such.jpg', 'no/cure.jpg'].map(failureOf)),
    (failures) => failures.every((failure) => failure !== undefined),
  );
  const givenUp = await rare.anImportIsGivenUp(wreck);
  const stateOf = async (id: string) =>
    z
      .object({ state: z.string() })
      .parse(await json(await fetch(`${api}/imports/${id}`, { headers: signedIn(target) }))).state;
  // The reaper waits for what still runs.
  await until(
    () => Promise.all([importId, refused.importId, givenUp].map(stateOf)),
    (states) => states.every((state) => /^(completed|failed)/.test(state)),
  );
  const seen = (part: string) => [...emitted.keys()].some((key) => key.includes(part));
  const completedBy = (service: string) => `ImportsCompleted",[["service","${service}"`;
  await until(
    async () => {
      await rare.anImportIsLeftUnclosed(wreck);
      // One that its schedule has begun meanwhile may have closed it, and ends before it says so.
      await reap(running);
      return seen(completedBy('import-reaper'));
    },
    (isSeen) => isSeen,
  );
  const last = [
    ...['RowsFailed', 'ChunksGivenUp', 'JobsGivenUp', 'ImagesGivenUp', 'Retries'],
    completedBy('chunk-failures'),
  ];
  await until(
    async () => last.filter((name) => !seen(name)),
    (missing) => missing.length === 0,
  );
  return importId;
}
