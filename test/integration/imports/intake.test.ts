import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closeDeadJob } from '../../../functions/chunk-failures/close-dead-letter.ts';
import { sendAll } from '../../../functions/import-intake/send-all.ts';
import { UnsentError } from '../../../shared/errors.ts';
import {
  beginReading,
  cancelImport,
  pauseImport,
  resumeImport,
} from '../../../shared/imports/change-state.ts';
import { readChunkObject } from '../../../shared/imports/chunk-objects.ts';
import { parseChunk } from '../../../shared/imports/csv/chunk-lines.ts';
import { sourceKey } from '../../../shared/imports/import-objects.ts';
import { readRefusedReport, readReport } from '../../../shared/imports/import-report.ts';
import { parseJobs } from '../../../shared/messages/import-job.ts';
import { type Engines, IMPORTS, type Process, startEngines } from '../engines.ts';
import { latch, Scene, until } from './scene.ts';

let engines: Engines;
let table: string;
beforeAll(async () => {
  engines = await startEngines();
  table = await engines.createImportsTable();
});
afterAll(() => engines.stop());

const newScene = (chunkRows = 2) => new Scene(engines, table, chunkRows);

/** A process that keeps the streams of what it reads. */
function watched(): { process: Process; bodies: Readable[] } {
  const process = engines.newProcess();
  const bodies: Readable[] = [];
  process.s3.middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args);
      if (answer.output && 'Body' in answer.output) bodies.push(answer.output.Body as Readable);
      return answer;
    },
    { step: 'deserialize', priority: 'high', name: 'keep' },
  );
  return { process, bodies };
}

/** More than fits into the buffers on the way. */
const LONG = `id,name\n${'1,"A name of some length, as names are"\n'.repeat(8000)}`;

const text = (body: string) => Buffer.from(body);

describe('a file that is refused', () => {
  test.each<[string, string, Uint8Array, string]>([
    ['nothing', 'csv-empty', text(''), 'the file is empty'],
    ['blank lines', 'csv-empty', text('\n\n'), 'has only blank lines'],
    ['a workbook', 'csv-not-text', Buffer.from('PK\x03\x04\0\0\0\0'), ''],
    ['UTF-32', 'csv-encoding', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), 'UTF-32'],
    ['another delimiter', 'csv-delimiter', text('sep=x\naxb\n1x2\n'), 'says sep=x'],
    ['a column twice', 'csv-header', text('a,a\n1,2\n'), 'has the column name "a" twice'],
    ['an unclosed quote', 'csv-quote', text('a,b\n1,2\n3,"4\n'), 'line 3 has an unclosed quote'],
    ['no rows', 'csv-no-rows', text('a,b\n'), 'has a header but no rows'],
    ['too many rows', 'csv-too-large', text('a\n1\n2\n3\n4\n5\n6\n'), 'expected at most 5 rows'],
  ])('for %s costs nothing, and says why', async (_, code, file, saying) => {
    const scene = await newScene().begin(0);
    await scene.upload(file);
    const { process, bodies } = watched();
    const { limits } = scene.deskOf(process);
    const outcome = await scene.read(process, { limits: { ...limits, maxRows: 5 } });
    expect(outcome).toMatchObject({ kind: 'refused', failure: { code } });
    const { state, failure, completedAt, layout } = await scene.item();
    expect([state, failure?.code]).toEqual(['failed', code]);
    expect(failure?.message).toContain(saying);
    expect(failure?.problems?.[0]?.message).toContain(saying);
    expect(completedAt).toBe(scene.clock.now);
    expect(layout).toBeUndefined();
    expect([scene.chunks, scene.jobs]).toEqual([[], []]);
    expect(process.calls.filter((call) => call.startsWith('SendMessage'))).toEqual([]);
    expect(bodies.map(({ destroyed }) => destroyed)).toEqual([true]);
    // Told of a second time, it is not read again.
    expect(await scene.read(process)).toEqual({ kind: 'ignored', why: 'the import is failed' });
  });

  test.each([
    ['a column', { columns: ['name', 'brand'] }],
    ['its id column', { idColumn: 'brand' }],
  ])('for %s that it does not have is read no further', async (_, change) => {
    const scene = await newScene().begin(0, change);
    await scene.upload(LONG);
    const { process, bodies } = watched();
    const outcome = await scene.read(process);
    expect(outcome).toMatchObject({ kind: 'refused', failure: { code: 'csv-header' } });
    const { failure } = await scene.item();
    expect(failure?.message).toBe('expected a column "brand" and the file has "id", "name"');
    expect(scene.chunks).toEqual([]);
    // Nobody reads it any more: its socket must not wait for somebody.
    expect(bodies.map(({ destroyed }) => destroyed)).toEqual([true]);
    const { KeyCount } = await engines.s3.send(
      new ListObjectsV2Command({ Bucket: IMPORTS, Prefix: `chunks/${scene.importId}/` }),
    );
    expect(KeyCount).toBe(0);
  });

  test('tells what was understood of it before', async () => {
    const scene = await newScene().begin(0, { idColumn: 'id' });
    await scene.upload(text('id;name\n\n ;Mug;\n2;"Open\n3;Kettle\n'));
    await scene.read(engines.newProcess());
    const { state, etag = '' } = await scene.item();
    expect(state).toBe('failed');
    const { importId } = scene;
    expect(await readRefusedReport(scene.items, { importId, etag })).toMatchObject({
      delimiter: ';',
      header: ['id', 'name'],
      rows: 1,
      blankLines: 1,
      warnings: [
        { line: 3, message: '1 row has no "id" and is known by its number: line 3' },
        { line: 3, message: 'line 3 has 3 of 2 fields' },
      ],
      preview: [{ line: 3, cells: [' ', 'Mug'] }],
    });
    // Of one that is taken there would be another.
    expect(await readReport(scene.items, importId)).toBeUndefined();
  });

  test('by a reader that comes too late changes nothing of what another has taken', async () => {
    const scene = await newScene().begin(2);
    const slow = engines.newProcess();
    const { limits } = scene.deskOf(slow);
    slow.after('UpdateItem', async () => {
      await scene.read(engines.newProcess());
    });
    const outcome = await scene.read(slow, { limits: { ...limits, maxRows: 1 } });
    expect(outcome).toEqual({ kind: 'ignored', why: 'the import is running' });
    const { state, failure, layout } = await scene.item();
    expect([state, failure, layout?.total]).toEqual(['running', undefined, 2]);
    expect(await readReport(scene.items, scene.importId)).toMatchObject({ rows: 2 });
    await scene.recover();
    await scene.expectComplete(2);
  });

  test('for the time that it takes has sent nothing', async () => {
    const scene = await newScene(1000).begin(0);
    await scene.upload(LONG);
    const { process, bodies } = watched();
    process.after('GetObject', async () => {
      scene.clock.now += 880_000;
    });
    const outcome = await scene.read(process);
    expect(outcome).toMatchObject({ kind: 'refused', failure: { code: 'csv-too-large' } });
    expect((await scene.item()).failure?.message).toMatch(/in the time that a function has/);
    expect(scene.chunks).toEqual([]);
    expect(bodies.map(({ destroyed }) => destroyed)).toEqual([true]);
  });

  test('for being removed says so', async () => {
    const scene = await newScene().begin(2);
    await engines.s3.send(
      new DeleteObjectCommand({ Bucket: IMPORTS, Key: sourceKey(scene.importId) }),
    );
    const outcome = await scene.read(engines.newProcess());
    expect(outcome).toMatchObject({ kind: 'refused', failure: { code: 'csv-empty' } });
    expect((await scene.item()).failure?.message).toBe('the file was removed before it was read');
  });

  test('after five readings that all ended in the middle', async () => {
    const scene = await newScene().begin(2);
    for (let reading = 1; reading <= 5; reading++) {
      const process = engines.newProcess();
      process.dieAfter(3);
      await expect(scene.read(process)).rejects.toThrow();
      expect((await scene.item()).reads).toBe(reading);
    }
    const outcome = await scene.read(engines.newProcess());
    expect(outcome).toMatchObject({ kind: 'refused', failure: { code: 'reading-failed' } });
  });
});

describe('a file that is read', () => {
  test('is cut into chunks, and its total is there before any message', async () => {
    const scene = await newScene().begin(5, { idColumn: 'id' });
    const process = engines.newProcess();
    let before: unknown;
    process.after('Query', async () => {
      const { layout, state, sendingSince } = await scene.item();
      before = { layout, state, sendingSince, sent: scene.chunks.length };
    });
    const outcome = await scene.read(process);
    expect(outcome).toEqual({ kind: 'read', rows: 5, state: 'running' });
    expect(before).toEqual({
      layout: { total: 5, chunkRows: 2 },
      state: 'running',
      sendingSince: scene.clock.now,
      sent: 0,
    });
    expect(scene.chunks.map(({ work }) => work)).toEqual(
      [1, 2, 3].map((chunk) => ({ importId: scene.importId, chunk, round: 0 })),
    );
    expect((await scene.item()).sendingSince).toBeUndefined();
    const bucket = { client: engines.s3, name: IMPORTS };
    expect(parseChunk(await readChunkObject(bucket, await scene.item(), 3))).toEqual([
      { row: 5, line: 6, id: 'r5', cells: ['r5', 'Name, 5'] },
    ]);
    const report = await readReport(scene.items, scene.importId);
    expect(report).toMatchObject({ rows: 5, header: ['id', 'name'], delimiter: ',' });
    // A second notification of it changes nothing.
    scene.chunks.length = 0;
    expect((await scene.read(process)).kind).toBe('ignored');
    expect(scene.chunks).toEqual([]);
  });

  test('is held for somebody who looks at it first', async () => {
    const scene = await newScene().begin(3, { hold: true, maxCostUsd: 0.000_001 });
    const outcome = await scene.read(engines.newProcess());
    expect(outcome).toEqual({ kind: 'read', rows: 3, state: 'paused' });
    expect(scene.chunks).toEqual([]);
    const { startedAt, sendingSince } = await scene.item();
    expect([startedAt, sendingSince]).toEqual([undefined, undefined]);
  });

  test.each([
    ['pauses', false, 'paused', 0],
    ['resumes', true, 'running', 2],
  ])('by a worker while somebody %s it ends as they wish', async (_, hold, state, sent) => {
    const scene = await newScene().begin(3, { hold });
    const process = engines.newProcess();
    process.after('PutObject', async () => {
      const { now } = scene.clock;
      if (hold) await resumeImport(scene.items, await scene.item(), { now, settled: 0 });
      else await pauseImport(scene.items, scene.importId, now);
    });
    expect(await scene.read(process)).toEqual({ kind: 'read', rows: 3, state });
    expect(scene.chunks).toHaveLength(sent);
  });

  test('and may cost more than it should waits, and sends nothing before more is allowed', async () => {
    const scene = await newScene().begin(3, { maxCostUsd: 0.000_001 });
    const outcome = await scene.read(engines.newProcess());
    expect(outcome).toEqual({ kind: 'read', rows: 3, state: 'paused' });
    const held = await scene.item();
    expect([held.state, held.failure?.code, held.startedAt]).toEqual([
      'paused',
      'over-budget',
      undefined,
    ]);
    expect(held.failure?.message).toMatch(
      /^The summaries may cost up to 0\.\d+ USD, and its bound is 0\.\d+ USD: raise the bound or choose fewer columns, then resume\.$/,
    );
    expect(scene.chunks).toEqual([]);
    const { now } = scene.clock;
    await resumeImport(scene.items, held, { now, settled: 0, maxCostUsd: null });
    scene.jobs.push(`{"kind":"send","importId":"${scene.importId}"}`);
    await scene.recover();
    await scene.expectComplete(3);
    expect((await scene.item()).maxCostUsd).toBeUndefined();
  });

  test('while somebody cancels it sends nothing', async () => {
    const scene = await newScene().begin(3);
    const process = engines.newProcess();
    process.after('PutObject', async () => {
      await cancelImport(scene.items, scene.importId, scene.clock.now);
    });
    expect(await scene.read(process)).toEqual({
      kind: 'ignored',
      why: 'the import is cancelled',
    });
    expect((await scene.item()).state).toBe('cancelled');
    expect(scene.chunks).toEqual([]);
  });

  test('for long says now and then that it is, and is left once that is not wanted', async () => {
    const scene = await newScene(2000).begin(0);
    await scene.upload(LONG);
    const { process, bodies } = watched();
    const begun = scene.clock.now;
    process.after('PutObject', async () => {
      scene.clock.now += 20_000;
      process.after('UpdateItem', async () => {
        expect((await scene.item()).updatedAt).toBe(begun + 20_000);
        await cancelImport(scene.items, scene.importId, scene.clock.now);
        scene.clock.now += 20_000;
      });
    });
    expect((await scene.read(process)).kind).toBe('ignored');
    expect(bodies.map(({ destroyed }) => destroyed)).toEqual([true]);
    expect(scene.chunks).toEqual([]);
  });

  test('waits for the chunks that are being written', async () => {
    const rows = 10_000;
    const scene = await newScene(50).begin(0);
    await scene.upload(`id,name\n${`1,${'A name that is long. '.repeat(25)}\n`.repeat(rows)}`);
    const { process, bodies } = watched();
    const stored = latch();
    let writing = 0;
    process.s3.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName === 'PutObjectCommand') {
            writing += 1;
            await stored.opened;
          }
          return await next(args);
        },
      { step: 'initialize', name: 'hang' },
    );
    const reading = scene.read(process);
    await until(() => writing > 0);
    const [source] = bodies;
    if (!(source instanceof IncomingMessage)) expect.fail('it came from no socket');
    let taken = 0;
    for (let quiet = 0; quiet < 10; quiet++) {
      if (source.socket.bytesRead > taken) quiet = 0;
      taken = source.socket.bytesRead;
      await sleep(20);
    }
    // Sixteen chunks of 26 KB, one that waits for its turn, and the buffers on the way; not the 5 MB.
    expect(writing).toBe(16);
    expect(taken).toBeLessThan(2_000_000);
    stored.open();
    expect(await reading).toMatchObject({ kind: 'read', rows });
  });

  test('twice at once is sent, and is the same', async () => {
    const scene = await newScene().begin(4);
    const outcomes = await Promise.all([
      scene.read(engines.newProcess()),
      scene.read(engines.newProcess()),
    ]);
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['ignored', 'read']);
    await scene.recover();
    await scene.expectComplete(4);
    scene.expectPaidOnce([], 4);
  });

  test('is the one that the message named', async () => {
    const scene = await newScene().begin(2);
    const { etag } = scene;
    await scene.upload('id,name\n1,Another\n');
    const replaced = scene.etag;
    scene.etag = etag;
    expect(await scene.read(engines.newProcess())).toEqual({
      kind: 'ignored',
      why: 'the file was replaced',
    });
    expect(scene.chunks).toEqual([]);
    // And the other message tells of what replaced it.
    scene.etag = replaced;
    expect(await scene.read(engines.newProcess())).toMatchObject({ kind: 'read', rows: 1 });
  });

  test('while another takes its place is left to whoever reads that one', async () => {
    const scene = await newScene().begin(4);
    const process = engines.newProcess();
    process.after('PutObject', async () => {
      await scene.upload('id,name\nx1,Other 1\nx2,Other 2\nx3,Other 3\nx4,Other 4\n');
      expect((await scene.read(engines.newProcess())).kind).toBe('read');
    });
    expect(await scene.read(process)).toEqual({ kind: 'ignored', why: 'the import is running' });
    const bucket = { client: engines.s3, name: IMPORTS };
    expect(scene.chunks).toHaveLength(2);
    const item = await scene.item();
    expect(item.etag).toBe(scene.etag);
    const first = parseChunk(await readChunkObject(bucket, item, 1));
    expect(first.map(({ cells }) => cells[1])).toEqual(['Other 1', 'Other 2']);
  });

  test('is not stopped by a late message of the file that it has replaced', async () => {
    const scene = await newScene().begin(4);
    const { etag: replaced } = scene;
    await scene.upload('id,name\nx1,Other\n');
    const { etag } = scene;
    const process = engines.newProcess();
    process.after('PutObject', async () => {
      scene.etag = replaced;
      expect((await scene.read(engines.newProcess())).kind).toBe('ignored');
      scene.etag = etag;
    });
    expect(await scene.read(process)).toMatchObject({ kind: 'read', rows: 1 });
  });

  test('and refused says so of that file alone', async () => {
    const scene = await newScene().begin(0);
    await scene.upload('id,name\n1,2\n3,"4\n');
    const process = engines.newProcess();
    const { importId, items } = scene;
    process.after('UpdateItem', async () => {
      await scene.upload('id,name\nx1,Other\n');
      await beginReading(items, importId, { etag: scene.etag, reads: 2, now: scene.clock.now });
    });
    const first = await scene.read(process);
    expect(first).toEqual({ kind: 'ignored', why: 'the file was replaced' });
    expect(await scene.read(engines.newProcess())).toMatchObject({ kind: 'read', rows: 1 });
  });

  test('of nobody is ignored', async () => {
    const scene = await newScene().begin(1);
    const { importId } = scene;
    const process = engines.newProcess();
    for (const key of ['sources/../x.csv', 'exports/a.csv', 'sources/nobody.csv']) {
      const outcome = await closeDeadJob(
        { ...scene.reaperOf(process), worker: 'w' },
        { kind: 'read', key, etag: 'e' },
      );
      expect(outcome.kind).toBe('nothing');
    }
    expect((await scene.item()).importId).toBe(importId);
  });
});

describe('chunks that the queue does not take', () => {
  test('are sent again, though it has answered 200', async () => {
    const scene = await newScene(1).begin(12);
    const asked = new Map<number, number>();
    scene.untaken = (chunk) => {
      asked.set(chunk, (asked.get(chunk) ?? 0) + 1);
      return chunk % 5 === 0 && asked.get(chunk) === 1;
    };
    await scene.read(engines.newProcess());
    expect(scene.chunks.map(({ work }) => work.chunk).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
    await scene.recover();
    await scene.expectComplete(12);
  });

  test('after all are said of by their import, which goes on when it is resumed', async () => {
    const scene = await newScene(1).begin(2);
    scene.untaken = (chunk) => chunk === 2;
    const process = engines.newProcess();
    await expect(scene.read(process)).rejects.toThrow(UnsentError);
    // The message comes back, and nothing is read again.
    await expect(scene.read(process)).rejects.toThrow(UnsentError);
    expect(process.calls.filter((call) => call === 'GetObject')).toHaveLength(1);
    const { state, sendingSince } = await scene.item();
    expect([state, sendingSince]).toEqual(['running', scene.clock.now]);
    const closer = { ...scene.reaperOf(process), worker: 'w' };
    const read = { kind: 'read', key: sourceKey(scene.importId), etag: scene.etag } as const;
    expect(await closeDeadJob(closer, read)).toEqual({ kind: 'paused' });
    const paused = await scene.item();
    expect([paused.state, paused.failure?.code]).toEqual(['paused', 'unsent']);
    expect(paused.failure?.message).toMatch(/resume to send them again/);

    // Another delivery's failure, of what is sent by then, pauses nothing.
    const send = { kind: 'send', importId: scene.importId } as const;
    scene.untaken = () => false;
    await resumeImport(scene.items, paused, { now: scene.clock.now, settled: 0 });
    scene.chunks.length = 0;
    scene.jobs.push(`{"kind":"send","importId":"${scene.importId}"}`);
    expect(parseJobs(scene.jobs[0] ?? '')).toHaveLength(1);
    await sendAll(scene.deskOf(process), scene.importId);
    expect(await closeDeadJob(closer, send)).toEqual({ kind: 'nothing' });
    expect((await scene.item()).state).toBe('running');
    await scene.recover();
    await scene.expectComplete(2);
    scene.expectPaidOnce([], 2);
  });

  test('pause nothing where somebody has resumed since they were looked at', async () => {
    const scene = await newScene(1).begin(2);
    scene.untaken = () => true;
    const process = engines.newProcess();
    await expect(scene.read(process)).rejects.toThrow(UnsentError);
    process.after('GetItem', async () => {
      scene.untaken = () => false;
      await sendAll(scene.deskOf(engines.newProcess()), scene.importId);
    });
    const send = { kind: 'send', importId: scene.importId } as const;
    const closer = { ...scene.reaperOf(process), worker: 'w' };
    expect(await closeDeadJob(closer, send)).toEqual({ kind: 'nothing' });
    expect((await scene.item()).state).toBe('running');
  });
});
