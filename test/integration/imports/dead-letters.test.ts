import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  closeDeadChunk,
  closeDeadJob,
} from '../../../functions/chunk-failures/close-dead-letter.ts';
import { BusyError, UnsentError } from '../../../shared/errors.ts';
import { cancelImport, pauseImport, retryImport } from '../../../shared/imports/change-state.ts';
import { claimChunk } from '../../../shared/imports/claim-chunk.ts';
import type { Closer } from '../../../shared/imports/close-chunk.ts';
import { chunkObjectKey, sourceKey } from '../../../shared/imports/import-objects.ts';
import { type Engines, IMPORTS, startEngines } from '../engines.ts';
import { answer, INVOCATION, Scene } from './scene.ts';

let engines: Engines;
let table: string;
beforeAll(async () => {
  engines = await startEngines();
  table = await engines.createImportsTable();
});
afterAll(() => engines.stop());

const newScene = () => new Scene(engines, table, 2);

let closers = 0;
const closerOf = (scene: Scene): Closer => {
  closers += 1;
  return { ...scene.reaperOf(engines.newProcess()), worker: `closer ${closers}` };
};

describe('a chunk that was given up', () => {
  test('fails the rows that nobody has written, and those alone', async () => {
    const scene = await newScene().begin(4, { idColumn: 'id' });
    await scene.read(engines.newProcess());
    const [first, second] = [scene.take(), scene.take()];
    // One row is written, then nothing is heard of the worker any more.
    scene.replies = (row) => (row === 1 ? answer('done', 'one') : new Promise(() => {}));
    void scene.deliver(scene.benchOf(engines.newProcess()), first);
    await vi.waitFor(async () => expect(await scene.rows()).toHaveLength(1), {
      interval: 5,
      timeout: 10_000,
    });
    scene.clock.now += INVOCATION + 5000;
    expect(await closeDeadChunk(closerOf(scene), first)).toEqual({
      kind: 'closed',
      completed: false,
    });
    expect((await scene.item()).state).toBe('running');
    // Without its object, which may have expired, its rows have numbers for ids.
    await engines.s3.send(
      new DeleteObjectCommand({ Bucket: IMPORTS, Key: chunkObjectKey(await scene.item(), 2) }),
    );
    expect(await closeDeadChunk(closerOf(scene), second)).toEqual({
      kind: 'closed',
      completed: true,
    });
    await scene.expectComplete(4, 3);
    const rows = await scene.rows();
    expect(rows.map(({ id }) => id)).toEqual(['r1', 'r2', '3', '4']);
    for (const { reason } of rows.slice(1))
      expect(reason).toMatch(/^undeliverable: .* in its log$/);
    expect((await scene.progress()).inputTokens).toBe(10);
    // Delivered twice, it changes nothing.
    expect(await closeDeadChunk(closerOf(scene), second)).toEqual({ kind: 'nothing' });
    await scene.expectComplete(4, 3);
  });

  test('and is worked on after all is looked at later', async () => {
    const scene = await newScene().ready(2);
    const work = scene.take();
    const { now } = scene.clock;
    await claimChunk(scene.items, work, { worker: 'w', until: now + INVOCATION, now });
    await expect(closeDeadChunk(closerOf(scene), work)).rejects.toThrow(BusyError);
    expect(await scene.rows()).toEqual([]);
    const held = await scene.chunk(1);
    expect([held?.worker, held?.settled]).toEqual(['w', false]);
  });

  test('costs nothing where nobody waits for it', async () => {
    const paused = await newScene().ready(2);
    const { now } = paused.clock;
    await pauseImport(paused.items, paused.importId, now);
    const cancelled = await newScene().ready(2);
    await cancelImport(cancelled.items, cancelled.importId, now);
    const retried = await newScene().ready(2);
    await retryImport(retried.items, await retried.item(), { now, done: 0 });
    for (const scene of [paused, cancelled, retried]) {
      expect(await closeDeadChunk(closerOf(scene), scene.take())).toEqual({ kind: 'nothing' });
      expect(await scene.rows()).toEqual([]);
      expect(await scene.chunk(1)).toBeUndefined();
    }
    const work = { importId: 'nobody', chunk: 1, round: 0 };
    expect(await closeDeadChunk(closerOf(paused), work)).toEqual({ kind: 'nothing' });
  });

  test('and that its import does not have completes nothing', async () => {
    const scene = await new Scene(engines, table, 1).ready(2);
    const [first, second] = [scene.take(), scene.take()];
    for (const chunk of [3, 101, 20_001]) {
      expect(await closeDeadChunk(closerOf(scene), { ...first, chunk })).toEqual({
        kind: 'nothing',
      });
    }
    await scene.deliver(scene.benchOf(engines.newProcess()), first);
    const { state, pages } = await scene.item();
    expect([state, pages]).toEqual(['running', {}]);
    await scene.deliver(scene.benchOf(engines.newProcess()), second);
    await scene.expectComplete(2);
  });
});

describe('a job that was given up', () => {
  test('to read ends its import', async () => {
    const scene = await newScene().begin(2);
    const job = { kind: 'read', key: sourceKey(scene.importId), etag: scene.etag } as const;
    expect(await closeDeadJob(closerOf(scene), job)).toEqual({ kind: 'failed' });
    const { state, failure } = await scene.item();
    expect([state, failure?.code]).toEqual(['failed', 'reading-failed']);
    expect(await closeDeadJob(closerOf(scene), job)).toEqual({ kind: 'nothing' });
  });

  test('to read does nothing to an import that another has read', async () => {
    const scene = await newScene().ready(2);
    const job = { kind: 'read', key: sourceKey(scene.importId), etag: scene.etag } as const;
    expect(await closeDeadJob(closerOf(scene), job)).toEqual({ kind: 'nothing' });
    expect((await scene.item()).state).toBe('running');
    const other = { ...job, key: 'exports/a.csv' };
    expect(await closeDeadJob(closerOf(scene), other)).toEqual({ kind: 'nothing' });
  });

  test('to send pauses its import, which says so', async () => {
    const scene = await newScene().begin(2);
    scene.untaken = () => true;
    await expect(scene.read(engines.newProcess())).rejects.toThrow(UnsentError);
    const job = { kind: 'send', importId: scene.importId } as const;
    expect(await closeDeadJob(closerOf(scene), job)).toEqual({ kind: 'paused' });
    const { state, failure } = await scene.item();
    expect([state, failure?.code]).toEqual(['paused', 'unsent']);
    expect(await closeDeadJob(closerOf(scene), job)).toEqual({ kind: 'nothing' });
  });

  test('to write an export is asked for again by whoever wants it', async () => {
    const scene = await newScene().ready(2);
    const { importId } = scene;
    const job = { kind: 'export', importId, key: 'exports/a.csv', onlyFailed: false } as const;
    const before = await scene.item();
    expect(await closeDeadJob(closerOf(scene), job)).toEqual({ kind: 'nothing' });
    expect(await scene.item()).toEqual(before);
  });
});
