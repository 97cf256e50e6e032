import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeThumbnails } from '../../functions/thumbnail-worker/make-thumbnails.ts';
import type { Outcome } from '../../functions/thumbnail-worker/workshop.ts';
import type { Work } from '../../shared/messages/thumbnail-work.ts';
import { thumbnailKey } from '../../shared/thumbnails/image-key.ts';
import { readGalleries } from '../../shared/thumbnails/images-table.ts';
import { type Engines, type Process, startEngines } from './engines.ts';
import {
  card,
  itemOf,
  picture,
  putOriginal,
  thumbnailExists,
  thumbnailKeys,
  workshopOf,
  zoom,
} from './workshop.ts';

// A worker is stopped after each of its AWS calls in turn, its lease ends, the message is
// delivered again: the end must always be the same, and no state in between may lie.

let engines: Engines;
beforeAll(async () => {
  engines = await startEngines();
});
afterAll(() => engines.stop());

const LEASE = 60_000;

interface Scene {
  table: string;
  image: string;
  clock: { now: number };
}

let scenes = 0;

async function newScene(): Promise<Scene> {
  scenes += 1;
  return {
    table: await engines.createTable(),
    image: `scene ${scenes}/a+b.jpg`,
    clock: { now: 1_000_000 },
  };
}

async function deliver(process: Process, scene: Scene, work: Work): Promise<Outcome> {
  return await makeThumbnails(workshopOf(process, scene.table, scene.clock), work, {
    attempt: 1,
    deadline: scene.clock.now + LEASE,
  });
}

/** How many AWS calls the work takes, when nothing stops it. */
async function countCalls(prepare: (scene: Scene) => Promise<Work>): Promise<number> {
  const scene = await newScene();
  const work = await prepare(scene);
  const process = engines.newProcess();
  await deliver(process, scene, work);
  return process.calls.length;
}

/** Delivers until the worker lives, with a death after each number of calls. */
async function stopAtEachCall(
  prepare: (scene: Scene) => Promise<Work>,
  inspect: (scene: Scene, work: Work) => Promise<void>,
  end: (scene: Scene, work: Work, outcome: Outcome) => Promise<void>,
): Promise<number> {
  const calls = await countCalls(prepare);
  for (let survived = 1; survived <= calls; survived++) {
    const scene = await newScene();
    const work = await prepare(scene);
    const dying = engines.newProcess();
    dying.dieAfter(survived);
    await expect(deliver(dying, scene, work)).rejects.toThrow();
    expect(dying.calls.length).toBeGreaterThanOrEqual(survived);
    await inspect(scene, work);
    scene.clock.now += LEASE + 1;
    await end(scene, work, await deliver(engines.newProcess(), scene, work));
  }
  return calls;
}

/** T4: whatever the table calls made can be fetched. */
async function nothingPromisedInVain({ table, image }: Scene): Promise<void> {
  const item = await itemOf(engines, table, image);
  for (const variant of [card, zoom]) {
    if (item?.variants[variant.name] === undefined) continue;
    expect(await thumbnailExists(engines, thumbnailKey(image, item.etag ?? '', variant))).toBe(
      true,
    );
  }
}

async function everythingMade({ table, image }: Scene): Promise<void> {
  const item = await itemOf(engines, table, image);
  expect(item).toMatchObject({ width: 200, height: 100, deaths: 0 });
  expect(item?.claim).toBeUndefined();
  expect(item?.failure).toBeUndefined();
  expect(Object.keys(item?.variants ?? {}).sort()).toEqual(['card', 'zoom']);
  expect(await thumbnailKeys(engines, `${image}/`)).toHaveLength(2);
  const gallery = image.split('/')[0];
  const listed = await readGalleries({ client: engines.dynamo, name: table }, { limit: 10 });
  expect(listed.galleries).toEqual([gallery]);
}

describe('a worker that is stopped after any of its calls', () => {
  test('leaves a request that is done by the next delivery', async () => {
    const calls = await stopAtEachCall(
      async ({ image }) => {
        await putOriginal(engines, image, await picture('red'));
        return { kind: 'wanted', image };
      },
      nothingPromisedInVain,
      everythingMade,
    );
    expect(calls).toBe(6);
  });

  test('leaves an upload that is done by the next delivery', async () => {
    await stopAtEachCall(
      async ({ image }) => ({
        kind: 'created',
        image,
        etag: await putOriginal(engines, image, await picture('red')),
        sequencer: '0A',
      }),
      nothingPromisedInVain,
      everythingMade,
    );
  });

  test('leaves a removal that is done by the next delivery', async () => {
    const calls = await stopAtEachCall(
      async (scene) => {
        const { image } = scene;
        const etag = await putOriginal(engines, image, await picture('red'));
        await deliver(engines.newProcess(), scene, {
          kind: 'created',
          image,
          etag,
          sequencer: '0A',
        });
        await engines.removeOriginal(image);
        return { kind: 'removed', image, sequencer: '0B' };
      },
      async () => {},
      async ({ table, image }) => {
        expect(await itemOf(engines, table, image)).toBeUndefined();
        expect(await thumbnailKeys(engines, `${image}/`)).toEqual([]);
      },
    );
    // a claim, a look at the original, a list, a delete a thumbnail, and the item's
    expect(calls).toBe(6);
  });

  test('leaves a replacement that is done by the next delivery', async () => {
    await stopAtEachCall(
      async (scene) => {
        const { image } = scene;
        const etag = await putOriginal(engines, image, await picture('red'));
        await deliver(engines.newProcess(), scene, {
          kind: 'created',
          image,
          etag,
          sequencer: '0A',
        });
        const next = await putOriginal(engines, image, await picture('blue'));
        return { kind: 'created', image, etag: next, sequencer: '0B' };
      },
      nothingPromisedInVain,
      async ({ table, image }, work) => {
        const item = await itemOf(engines, table, image);
        expect(item?.etag).toBe(work.kind === 'created' ? work.etag : '');
        expect(Object.keys(item?.variants ?? {}).sort()).toEqual(['card', 'zoom']);
        await nothingPromisedInVain({ table, image, clock: { now: 0 } });
      },
    );
  });

  test('leaves an image that cannot be read recorded by the next delivery', async () => {
    await stopAtEachCall(
      async ({ image }) => {
        await putOriginal(engines, image, Buffer.from('<html>not a picture</html>'));
        return { kind: 'wanted', image };
      },
      async () => {},
      async ({ table, image }) => {
        const item = await itemOf(engines, table, image);
        expect(item?.failure?.class).toBe('unsupported');
        expect(item?.claim).toBeUndefined();
      },
    );
  });
});
