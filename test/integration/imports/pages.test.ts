import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelImport, retryImport } from '../../../shared/imports/change-state.ts';
import { closePage, completeImport } from '../../../shared/imports/close-page.ts';
import { NO_TALLIES } from '../../../shared/imports/import-item.ts';
import { chunkKey } from '../../../shared/imports/imports-table.ts';
import { CHUNKS_A_PAGE, pageOfChunk } from '../../../shared/imports/layout.ts';
import { type Engines, startEngines } from '../engines.ts';
import { Scene } from './scene.ts';

let engines: Engines;
let table: string;
beforeAll(async () => {
  engines = await startEngines();
  table = await engines.createImportsTable();
});
afterAll(() => engines.stop());

/** Two pages: one of a hundred chunks, and one of a single chunk. */
const LAYOUT = { total: CHUNKS_A_PAGE + 1, chunkRows: 1 };

async function newScene(): Promise<Scene> {
  return await new Scene(engines, table, 1).begin(0, { state: 'running', layout: LAYOUT });
}

/** As a worker leaves them. */
async function settle(scene: Scene, chunks: readonly number[], failed = 0, round = 0) {
  const items = chunks.map((chunk) => ({
    ...chunkKey(scene.importId, pageOfChunk(chunk), chunk),
    ...NO_TALLIES,
    ...{ chunk, round, settled: true, done: 1 - failed, failed, resent: 0, touchedAt: 1 },
  }));
  for (let from = 0; from < items.length; from += 25) {
    const batch = items.slice(from, from + 25).map((Item) => ({ PutRequest: { Item } }));
    await engines.dynamo.send(new BatchWriteCommand({ RequestItems: { [table]: batch } }));
  }
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

async function close(scene: Scene, page: number, round = 0): Promise<string> {
  const { importId } = scene;
  const name = { importId, layout: LAYOUT, round };
  return (await closePage(scene.items, name, page, scene.clock.now)).closing;
}

test('a page is full with its last chunk, and an import complete with its last page, once', async () => {
  const scene = await newScene();
  await settle(scene, upTo(CHUNKS_A_PAGE - 1));
  expect(await close(scene, 1)).toBe('open');
  expect((await scene.item()).pages).toEqual({});
  await settle(scene, [CHUNKS_A_PAGE]);
  expect(await close(scene, 1)).toBe('full');
  // Twice changes nothing.
  expect(await close(scene, 1)).toBe('full');
  const { state, pages } = await scene.item();
  expect([state, Object.keys(pages)]).toEqual(['running', ['1']]);
  expect(pages['1']).toMatchObject({ done: 100, failed: 0, chunksDone: 100, chunksFailed: 0 });

  await settle(scene, [CHUNKS_A_PAGE + 1], 1);
  const together = await Promise.all([close(scene, 2), close(scene, 2), close(scene, 2)]);
  expect(together.toSorted()).toEqual(['completed', 'full', 'full']);
  const over = await scene.item();
  expect(over.state).toBe('completed-with-failures');
  scene.clock.now += 1000;
  expect(await close(scene, 2)).toBe('full');
  expect(await completeImport(scene.items, over, scene.clock.now)).toBe(false);
  expect(await scene.item()).toEqual(over);
});

test('an import is not complete by what somebody has read of it before', async () => {
  const scene = await newScene();
  await settle(scene, upTo(CHUNKS_A_PAGE));
  await close(scene, 1);
  const item = await scene.item();
  const { '1': page } = item.pages;
  if (page === undefined) return expect.fail();
  const imagined = { ...item, pages: { 1: page, 2: page } };
  expect(await completeImport(scene.items, imagined, scene.clock.now)).toBe(false);
  expect(await completeImport(scene.items, item, scene.clock.now)).toBe(false);
  expect((await scene.item()).state).toBe('running');
});

test('a retry forgets the pages that had failures, and no page of the round before counts', async () => {
  const scene = await newScene();
  await settle(scene, upTo(CHUNKS_A_PAGE), 0);
  await settle(scene, [CHUNKS_A_PAGE + 1], 1);
  await close(scene, 1);
  await close(scene, 2);
  const before = await scene.item();
  await retryImport(scene.items, before, { now: scene.clock.now, done: 100 });
  const retried = await scene.item();
  expect([retried.state, Object.keys(retried.pages)]).toEqual(['running', ['1']]);
  // Of the round before, by somebody slow.
  expect(await close(scene, 2)).toBe('full');
  expect(await completeImport(scene.items, before, scene.clock.now)).toBe(false);
  expect(await scene.item()).toEqual(retried);
  // Its failure is to be done again.
  expect(await close(scene, 2, 1)).toBe('open');
  await settle(scene, [CHUNKS_A_PAGE + 1], 0, 1);
  expect(await close(scene, 2, 1)).toBe('completed');
  expect((await scene.item()).state).toBe('completed');
});

test('what was cancelled is not completed', async () => {
  const scene = await newScene();
  await settle(scene, upTo(CHUNKS_A_PAGE + 1));
  await close(scene, 1);
  const item = await scene.item();
  await cancelImport(scene.items, scene.importId, scene.clock.now);
  expect(await close(scene, 2)).toBe('full');
  const { '1': page } = item.pages;
  const both = { ...item, pages: page === undefined ? {} : { 1: page, 2: page } };
  expect(await completeImport(scene.items, both, scene.clock.now)).toBe(false);
  expect((await scene.item()).state).toBe('cancelled');
});
