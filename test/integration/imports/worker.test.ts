import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Context, SQSRecord } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  FIRST_LOOK_EVERY,
  LEASE,
  LOOK_EVERY,
} from '../../../functions/chunk-worker/summarise-chunk.ts';
import type { Workbench } from '../../../functions/chunk-worker/workbench.ts';
import { sendAll } from '../../../functions/import-intake/send-all.ts';
import {
  cancelImport,
  haltImport,
  pauseImport,
  resumeImport,
  retryImport,
} from '../../../shared/imports/change-state.ts';
import { claimChunk, releaseChunk, renewClaim } from '../../../shared/imports/claim-chunk.ts';
import { NO_TALLIES } from '../../../shared/imports/import-item.ts';
import { chunkObjectKey } from '../../../shared/imports/import-objects.ts';
import { encodeChunkWork, parseChunkWork } from '../../../shared/messages/chunk-work.ts';
import { queueHandler } from '../../../shared/runtime/queue-stack.ts';
import {
  NoKeyError,
  RefusedError,
  TimedOutError,
} from '../../../shared/summaries/provider-error.ts';
import { type Engines, IMPORTS, type Process, startEngines } from '../engines.ts';
import {
  answer,
  CALL_TIMEOUT,
  INVOCATION,
  isLook,
  latch,
  type Replies,
  Scene,
  until,
} from './scene.ts';

/** Milliseconds that a claim outlasts its worker's own belief. */
const SKEW = 5000;

let engines: Engines;
let table: string;
beforeAll(async () => {
  engines = await startEngines();
  table = await engines.createImportsTable();
});
afterAll(() => engines.stop());

/** An import that was read, of so many rows in chunks of so many. */
const ready = async (rows: number, chunkRows = rows, change = {}) =>
  await new Scene(engines, table, chunkRows).ready(rows, change);

/** A worker that calls for one row after another, while time passes at once. */
const worker = (scene: Scene, gate = 1, process: Process = engines.newProcess()) =>
  scene.benchOf(process, { gate, sleep: scene.passing });

const refusal = (status: number, codes: string[] = [], limits: Record<string, string> = {}) =>
  new RefusedError({ kind: 'openai', status, codes, detail: 'No.', limits, key: undefined });

const done = (row: number) => answer('done', `summary of ${row}`);

async function resumeAndSend(scene: Scene): Promise<void> {
  const { now } = scene.clock;
  await resumeImport(scene.items, await scene.item(), { now, settled: 0 });
  await sendAll(scene.deskOf(engines.newProcess()), scene.importId);
}

describe('what no call can succeed against', () => {
  test('met before somebody acted and resumed, it pauses nothing', async () => {
    const scene = await ready(2);
    const error = refusal(429, ['insufficient_quota']);
    scene.replies = async (row) => {
      if (row === 2) return done(row);
      // While the call is on its way, another worker pauses, and the quota is raised.
      const { importId } = scene;
      await haltImport(scene.items, await scene.item(), {
        now: scene.clock.now,
        failure: { code: 'quota-spent', message: 'It is used up.' },
      });
      scene.clock.now += 1000;
      const wishes = { now: scene.clock.now, settled: 0 };
      await resumeImport(scene.items, { importId, state: 'paused' }, wishes);
      throw error;
    };
    await scene.deliver(worker(scene), scene.take());
    const { state, failure } = await scene.item();
    expect([state, failure]).toEqual(['running', undefined]);
  });

  test.each([
    ['a quota that is used up', 'quota-spent', refusal(429, ['insufficient_quota'])],
    ['a key that is refused', 'key-refused', refusal(401)],
    ['a model that is not there', 'model-not-found', refusal(404)],
    ['no key', 'key-refused', new NoKeyError('There is no key')],
  ])('%s pauses the import, and resuming pays no row twice', async (_, code, error) => {
    const scene = await ready(3);
    const bench = worker(scene);
    const provider = await bench.provider();
    // The second row meets it.
    bench.provider = async () => {
      if (error instanceof NoKeyError && scene.paid(1) === 1) throw error;
      return provider;
    };
    scene.replies = (row) => {
      if (row === 2) throw error;
      return done(row);
    };
    expect(await scene.deliver(bench, scene.take())).toEqual({ kind: 'unwanted', why: 'paused' });
    const { state, failure } = await scene.item();
    expect([state, failure?.code]).toEqual(['paused', code]);
    expect(failure?.message).toMatch(/, then resume\.$/);
    const released = await scene.chunk(1);
    expect([released?.settled, released?.worker, released?.until]).toEqual([
      false,
      undefined,
      undefined,
    ]);
    expect([released?.done, released?.failed]).toEqual([1, 0]);
    expect(scene.chunks).toEqual([]);
    expect(scene.paid(3)).toBe(0);

    scene.replies = done;
    await resumeAndSend(scene);
    expect((await scene.item()).failure).toBeUndefined();
    await scene.deliver(worker(scene), scene.take());
    await scene.expectComplete(3);
    expect([scene.paid(1), scene.paid(3)]).toEqual([1, 1]);
  });
});

describe('what may succeed later', () => {
  test('a refusal of the rate pauses the whole process, and waits are told apart', async () => {
    const scene = await ready(4, 2);
    const calls: number[] = [];
    scene.replies = (row) => {
      calls.push(scene.clock.now);
      scene.clock.now += 800;
      if (calls.length === 1) throw refusal(429, ['rate_limit_exceeded'], { 'retry-after': '7' });
      return done(row);
    };
    const begun = scene.clock.now;
    const bench = worker(scene);
    await scene.deliver(bench, scene.take());
    const { gateMs, refusedMs, allowanceMs, yieldMs } = (await scene.chunk(1)) ?? expect.fail();
    // The other row waits for its turn, then as long as the one that was refused.
    expect(calls.map((at) => at - begun)).toEqual([0, 7800, 8600]);
    expect({ gateMs, refusedMs, allowanceMs, yieldMs }).toEqual({
      gateMs: 800,
      refusedMs: 14_000,
      allowanceMs: 0,
      yieldMs: 0,
    });
    await scene.deliver(bench, scene.take());
    await scene.expectComplete(4);
    const all = await scene.progress();
    expect([all.gateMs, all.refusedMs]).toEqual([800 + 800, 14_000]);
  });

  test('rows of other chunks of the process wait as well', async () => {
    const scene = await ready(6, 2);
    const calls: number[] = [];
    scene.replies = (row) => {
      calls.push(scene.clock.now);
      if (calls.length === 1) throw refusal(429, [], { 'retry-after': '7' });
      return done(row);
    };
    const begun = scene.clock.now;
    const bench = worker(scene);
    const works = [scene.take(), scene.take(), scene.take()];
    await Promise.all(works.map((work) => scene.deliver(bench, work)));
    expect(calls).toHaveLength(7);
    for (const at of calls.slice(1)) expect(at).toBeGreaterThanOrEqual(begun + 7000);
    await scene.expectComplete(6);
  });

  test('a wait that is longer than the time left hands the rest back and costs no receive', async () => {
    const scene = await ready(3);
    scene.replies = (row) => {
      if (row === 2) throw refusal(429, [], { 'retry-after': '600' });
      return done(row);
    };
    const work = scene.take();
    const process = engines.newProcess();
    const outcome = await scene.deliver(worker(scene, 1, process), work);
    expect(outcome).toEqual({ kind: 'handed-back', left: 2 });
    // A refusal of the rate is no try.
    expect(scene.chunks).toEqual([{ work, at: scene.clock.now + 600_000 }]);
    const released = await scene.chunk(1);
    expect([released?.worker, released?.settled, released?.done]).toEqual([undefined, false, 1]);
    expect((await scene.rows()).map(({ row }) => row)).toEqual([1]);
    expect(scene.paid(3)).toBe(0);
    // First the claim goes, then the message comes: the next worker finds it free.
    expect(process.calls.slice(-2)).toEqual(['UpdateItem', 'SendMessage']);

    scene.clock.now += 600_000;
    scene.replies = done;
    await scene.deliver(worker(scene), scene.take());
    await scene.expectComplete(3);
    expect([scene.paid(1), scene.paid(3)]).toEqual([1, 1]);
  });

  test.each([
    ['a provider that fails', 'provider-failed', refusal(500)],
    ['a provider without capacity', 'overloaded', refusal(503)],
    ['a time-out', 'timeout', new TimedOutError(30_000)],
  ])('%s is tried eight times for each row, through all its messages', async (_, code, error) => {
    const scene = await ready(2);
    scene.replies = (row) => {
      if (row === 1) throw error;
      return done(row);
    };
    const tries: unknown[] = [];
    for (let messages = 0; scene.chunks.length > 0 && messages < 10; messages++) {
      const [message] = scene.chunks;
      scene.clock.now = Math.max(scene.clock.now, message?.at ?? 0);
      const work = scene.take();
      tries.push(work.tries?.['1']);
      expect(work.tries?.['2']).toBeUndefined();
      await scene.deliver(worker(scene), work, 38_000);
    }
    // Three in the first invocation, which has time to wait twice; then each has time for one.
    expect(tries).toEqual([undefined, 3, 4, 5, 6, 7]);
    expect(scene.paid(1)).toBe(8);
    expect(scene.paid(2)).toBe(1);
    await scene.expectComplete(2, 1);
    expect((await scene.rows())[0]?.reason).toMatch(new RegExp(`^${code}: .*\\.$`));
  });

  test('a refusal of the rate never counts', async () => {
    const scene = await ready(1);
    scene.replies = (row, paid) => {
      if (paid <= 20) throw refusal(429, [], { 'retry-after': '1' });
      return done(row);
    };
    await scene.deliver(worker(scene), scene.take());
    await scene.expectComplete(1);
    expect(scene.paid(1)).toBe(21);
  });
});

describe('the time that is left', () => {
  const NEEDED = CALL_TIMEOUT + 3000;

  test('begins no call that could outlast it', async () => {
    const scene = await ready(3);
    scene.replies = (row) => {
      scene.clock.now += 400;
      return done(row);
    };
    const outcome = await scene.deliver(worker(scene), scene.take(), NEEDED + 500);
    expect(outcome).toEqual({ kind: 'handed-back', left: 1 });
    expect([scene.paid(1), scene.paid(2), scene.paid(3)]).toEqual([1, 1, 0]);
    expect(scene.chunks.map(({ at }) => at)).toEqual([scene.clock.now]);
    await scene.deliver(worker(scene), scene.take());
    await scene.expectComplete(3);
    scene.expectPaidOnce([], 3);
  });

  test('of nothing at all costs not even a claim', async () => {
    const scene = await ready(1);
    const work = scene.take();
    const outcome = await scene.deliver(worker(scene), work, NEEDED - 1);
    expect(outcome).toEqual({ kind: 'handed-back', left: 0 });
    expect(scene.chunks).toEqual([{ work, at: scene.clock.now }]);
    expect(await scene.chunk(1)).toBeUndefined();
  });
});

describe('a row', () => {
  test('that has no summary costs itself, and says why', async () => {
    const scene = await new Scene(engines, table, 20).begin(0, { columns: ['name'] });
    const names = ['good', `x${','.repeat(100)}`, ' ', ...'cdefgh'];
    await scene.upload(`sku,name\n${names.map((name, i) => `sku ${i + 1},${name}\n`).join('')}`);
    await scene.read(engines.newProcess());
    const answers: Record<number, ReturnType<Replies>> = {
      4: answer('refused', 'I will not.'),
      5: answer('filtered', 'Half of'),
      6: answer('truncated', 'Half of'),
      7: answer('empty', ''),
      8: answer('done', ' Fine.\n'),
    };
    scene.replies = (row) => {
      if (row === 9) throw refusal(400, ['invalid_request_error']);
      return answers[row] ?? done(row);
    };
    const outcome = await scene.deliver(worker(scene, 4), scene.take());
    expect(outcome).toMatchObject({ kind: 'settled', completed: true, done: 2, failed: 7 });
    const rows = await scene.rows();
    expect(rows.map(({ reason }) => reason?.split(':')[0])).toEqual([
      undefined,
      'unreadable',
      'blank',
      'refused',
      'filtered',
      'truncated',
      'empty',
      undefined,
      'request-refused',
    ]);
    const summaries = rows.map(({ summary }) => summary).filter((summary) => summary !== undefined);
    expect(summaries).toEqual(['summary of 1', 'Fine.']);
    expect(rows[1]?.reason).toMatch(/the row has 102 fields: expected at most 100/);
    expect(rows[5]?.reason).toMatch(/cut off at 100 tokens/);
    // What can have no answer is not asked for.
    expect([scene.paid(2), scene.paid(3), scene.paid(9)]).toEqual([0, 0, 1]);
    await scene.expectComplete(9, 7);
    const { inputTokens } = await scene.progress();
    expect(inputTokens).toBe(6 * 10);
  });

  test('with a cell that is too long is summarised by its beginning', async () => {
    const scene = await new Scene(engines, table, 20).begin(0);
    await scene.upload(`sku,name\n1,${'x'.repeat(200_000)}\n2,Mug\n`);
    await scene.read(engines.newProcess());
    const bench = worker(scene);
    const { complete, ...provider } = await bench.provider();
    const inputs: number[] = [];
    bench.provider = async () => ({
      ...provider,
      complete: async (request, signal) => {
        inputs.push(request.input.length);
        return await complete(request, signal);
      },
    });
    await scene.deliver(bench, scene.take());
    await scene.expectComplete(2);
    const [long = 0, short = 0] = inputs;
    expect(long).toBeGreaterThan(900);
    expect(Math.max(long, short)).toBeLessThanOrEqual(1000);
  });

  test('is kept with what made it', async () => {
    const scene = await ready(1, 1, { idColumn: 'id' });
    await scene.deliver(worker(scene), scene.take());
    expect(await scene.rows()).toEqual([
      {
        row: 1,
        id: 'r1',
        state: 'done',
        round: 0,
        summary: 'summary of 1',
        inputTokens: 10,
        outputTokens: 5,
        model: 'fake',
        promptVersion: '1',
      },
    ]);
  });

  test('that is answered with nothing but white space is no summary', async () => {
    const scene = await ready(1);
    scene.replies = () => answer('done', ' \n\t');
    await scene.deliver(worker(scene), scene.take());
    await scene.expectComplete(1, 1);
    expect((await scene.rows())[0]?.reason).toMatch(/^empty: /);
  });

  test('that fails twice is paid for twice, and says so', async () => {
    const scene = await ready(1);
    scene.replies = () => answer('refused', '');
    await scene.deliver(worker(scene), scene.take());
    const { now } = scene.clock;
    await retryImport(scene.items, await scene.item(), { now, done: 0 });
    await sendAll(scene.deskOf(engines.newProcess()), scene.importId);
    await scene.deliver(worker(scene), scene.take());
    await scene.expectComplete(1, 1);
    expect((await scene.progress()).inputTokens).toBe(20);
  });
});

describe('a chunk', () => {
  const place = (scene: Scene) => ({ Bucket: IMPORTS, Key: chunkObjectKey(scene, 1) });

  test.each([
    ['whose object is gone', (scene: Scene) => new DeleteObjectCommand(place(scene))],
    [
      'whose object has too few rows',
      (scene: Scene) =>
        new PutObjectCommand({
          ...place(scene),
          Body: '{"row":1,"line":2,"id":"1","cells":["a","b"]}\n',
        }),
    ],
    [
      'whose object was cut off',
      (scene: Scene) => new PutObjectCommand({ ...place(scene), Body: '{"row":1,"li' }),
    ],
  ])('%s settles nothing, and its message comes back', async (_, command) => {
    const scene = await ready(2);
    await engines.s3.send(command(scene) as PutObjectCommand);
    await expect(scene.deliver(worker(scene), scene.take())).rejects.toThrow();
    const left = await scene.chunk(1);
    expect([left?.settled, left?.worker]).toEqual([false, undefined]);
    expect(scene.ledger).toEqual([]);
    expect(await scene.rows()).toEqual([]);
    expect((await scene.item()).state).toBe('running');
  });

  test('that its import does not have is nobody’s', async () => {
    const scene = await ready(2, 1);
    const work = scene.take();
    for (const chunk of [3, 101, Number.MAX_SAFE_INTEGER]) {
      const outcome = await scene.deliver(worker(scene), { ...work, chunk });
      expect(outcome).toEqual({ kind: 'unwanted', why: 'unknown' });
    }
    expect(await scene.chunk(3)).toBeUndefined();
    const unknown = await scene.deliver(worker(scene), { ...work, importId: 'nobody' });
    expect(unknown).toEqual({ kind: 'unwanted', why: 'unknown' });
  });

  test('that two workers meet is done by one; the other comes back once that must be over', async () => {
    const scene = await ready(2);
    const { opened, open } = latch();
    scene.replies = async (row) => {
      await opened;
      return done(row);
    };
    const work = scene.take();
    const first = scene.deliver(worker(scene), work);
    await until(() => scene.ledger.length > 0);
    const second = await scene.deliver(worker(scene), work);
    expect(second).toEqual({ kind: 'handed-back', left: 0 });
    expect(scene.chunks).toEqual([{ work, at: scene.clock.now + LEASE + SKEW + 1000 }]);
    open();
    expect(await first).toMatchObject({ kind: 'settled', completed: true, done: 2 });
    await scene.expectComplete(2);
    scene.expectPaidOnce([], 2);
    expect(await scene.deliver(worker(scene), scene.take())).toEqual({
      kind: 'unwanted',
      why: 'over',
    });
    expect(scene.completions).toBe(1);
  });

  test('that is delivered again after its end closes its page, if nobody has', async () => {
    const scene = await ready(2, 1);
    const [first, second] = [scene.take(), scene.take()];
    await scene.deliver(worker(scene), first);
    const again = await scene.deliver(worker(scene), first);
    expect(again).toEqual({ kind: 'unwanted', why: 'closed' });
    // Killed after it was settled.
    const process = engines.newProcess();
    process.dieAfter(7);
    await expect(scene.deliver(worker(scene, 1, process), second)).rejects.toThrow();
    expect((await scene.chunk(2))?.settled).toBe(true);
    expect((await scene.item()).state).toBe('running');
    await scene.deliver(worker(scene), second);
    await scene.expectComplete(2);
    scene.expectPaidOnce([], 2);
  });

  test('whose claim has lapsed is settled by whoever claims it then, and by nobody else', async () => {
    const scene = await ready(3);
    const latches = [latch(), latch()];
    scene.replies = async (row) => {
      if (row === 2) await latches[scene.paid(2) - 1]?.opened;
      return answer('done', `answer ${scene.paid(row)}`);
    };
    const work = scene.take();
    const late = scene.deliver(worker(scene), work);
    await until(() => scene.paid(2) === 1);
    // It was stopped for so long, and goes on as if nothing had happened.
    scene.clock.now += LEASE + SKEW;
    const next = scene.deliver(worker(scene), work);
    await until(() => scene.paid(2) === 2);
    latches[0]?.open();
    expect(await late).toEqual({ kind: 'unwanted', why: 'lost' });
    expect(scene.chunks).toEqual([]);
    expect((await scene.chunk(1))?.settled).toBe(false);
    // What was in flight is paid for twice; a further row it does not ask for.
    expect(scene.paid(3)).toBe(0);
    latches[1]?.open();
    expect(await next).toMatchObject({ kind: 'settled', done: 3 });
    await scene.expectComplete(3);
    // What the late one wrote stays, and is paid once in the count.
    expect((await scene.progress()).inputTokens).toBe(30);
    expect([scene.paid(1), scene.paid(3)]).toEqual([1, 1]);
  });

  test('of an earlier round, or of an import that is paused, is left alone', async () => {
    const scene = await ready(2, 1);
    scene.replies = () => answer('refused', '');
    const [first, second] = [scene.take(), scene.take()];
    await scene.deliver(worker(scene), first);
    const { now } = scene.clock;
    await retryImport(scene.items, await scene.item(), { now, done: 0 });
    const stale = await scene.deliver(worker(scene), second);
    expect(stale).toEqual({ kind: 'unwanted', why: 'stale' });
    await pauseImport(scene.items, scene.importId, now);
    const paused = await scene.deliver(worker(scene), { ...second, round: 1 });
    expect(paused).toEqual({ kind: 'unwanted', why: 'paused' });
    expect(scene.ledger).toHaveLength(1);
    expect(scene.chunks).toEqual([]);
  });

  test('of an earlier round that a slow worker ends counts for nothing in the next', async () => {
    const scene = await ready(2, 1);
    const { opened, open } = latch();
    scene.replies = async (row) => {
      if (row === 1) return answer('refused', '');
      await opened;
      return answer('refused', '');
    };
    const [first, second] = [scene.take(), scene.take()];
    await scene.deliver(worker(scene), first);
    const slow = scene.deliver(worker(scene), second);
    await until(() => scene.paid(2) === 1);
    const { now } = scene.clock;
    await retryImport(scene.items, await scene.item(), { now, done: 0 });
    open();
    await slow;
    const item = await scene.item();
    expect([item.state, item.pages]).toEqual(['running', {}]);
    expect(await scene.progress()).toMatchObject({ done: 0, failed: 0, chunksFailed: 0 });
    scene.replies = done;
    await sendAll(scene.deskOf(engines.newProcess()), scene.importId);
    await scene.deliver(worker(scene), scene.take());
    await scene.deliver(worker(scene), scene.take());
    await scene.expectComplete(2);
  });
});

describe('a claim', () => {
  test('is renewed while its worker works, also while nothing is written', async () => {
    const scene = await ready(1);
    const work = scene.take();
    scene.replies = async (row) => {
      await scene.passing(80_000);
      const other = await scene.deliver(worker(scene), work);
      expect(other).toEqual({ kind: 'handed-back', left: 0 });
      return done(row);
    };
    expect(await scene.deliver(worker(scene), work)).toMatchObject({ kind: 'settled', done: 1 });
    const [message] = scene.chunks;
    // As soon as that could have lapsed, and no sooner.
    const comesBackIn = (message?.at ?? 0) - scene.clock.now;
    expect(comesBackIn).toBeGreaterThan(LEASE - 4 * LOOK_EVERY);
    expect(comesBackIn).toBeLessThanOrEqual(LEASE + SKEW + 1000);
    scene.expectPaidOnce([], 1);
    expect(scene.chunks).toHaveLength(1);
  });

  test('is renewed while its rows are read', async () => {
    const scene = await ready(2);
    const process = engines.newProcess();
    process.after('GetObject', async () => {
      await scene.passing(50_000);
    });
    const outcome = await scene.deliver(worker(scene, 1, process), scene.take());
    expect(outcome).toMatchObject({ kind: 'settled', done: 2 });
  });

  test('never outlasts its invocation', async () => {
    const scene = await ready(2);
    const ms = CALL_TIMEOUT + 4000;
    const deadline = scene.clock.now + ms;
    const ends: unknown[] = [];
    scene.replies = async (row) => {
      ends.push((await scene.chunk(1))?.until);
      await scene.passing(10_000);
      ends.push((await scene.chunk(1))?.until);
      return done(row);
    };
    const begun = scene.clock.now;
    await scene.deliver(worker(scene), scene.take(), ms);
    expect(ends).toEqual([begun + LEASE + SKEW, deadline + SKEW]);
  });

  /** The first row's call lasts while so many looks do not reach the table. */
  async function unheard(scene: Scene, looks: number) {
    const process = engines.newProcess();
    scene.replies = async (row) => {
      for (let look = 0; row === 1 && look < looks; look++) {
        process.instead('UpdateItem', () => {
          throw new Error('The table does not answer.');
        });
        await scene.passing(4 * LOOK_EVERY);
      }
      return done(row);
    };
    return await scene.deliver(worker(scene, 1, process), scene.take());
  }

  test('that cannot be renewed once is renewed by the next look', async () => {
    const scene = await ready(3);
    expect(await unheard(scene, 1)).toMatchObject({ kind: 'settled', done: 3 });
  });

  test('that cannot be renewed for long is given back in time, before a further row is paid for', async () => {
    const scene = await ready(3);
    const { now } = scene.clock;
    expect(await unheard(scene, 3)).toEqual({ kind: 'handed-back', left: 2 });
    expect(scene.clock.now).toBeLessThan(now + LEASE);
    expect([scene.paid(1), scene.paid(2), scene.paid(3)]).toEqual([1, 0, 0]);
    const left = await scene.chunk(1);
    expect([left?.worker, left?.until, left?.done]).toEqual([undefined, undefined, 1]);
    scene.replies = done;
    await scene.deliver(worker(scene), scene.take());
    await scene.expectComplete(3);
    scene.expectPaidOnce([], 3);
  });

  test('is not shortened by a renewal that arrives late', async () => {
    const scene = await ready(1);
    const { now } = scene.clock;
    const name = { importId: scene.importId, chunk: 1, round: 0 };
    await claimChunk(scene.items, name, { worker: 'w', until: now + 35_000, now });
    const renew = async (after: number) =>
      await renewClaim(scene.items, name, {
        worker: 'w',
        until: now + after + 35_000,
        now: now + after,
        tallies: NO_TALLIES,
      });
    expect(await renew(4000)).toEqual({ kept: true });
    // The SDK's own repetition, and one that was long on its way.
    expect(await renew(4000)).toEqual({ kept: true });
    expect(await renew(2000)).toEqual({ kept: true });
    expect((await scene.chunk(1))?.until).toBe(now + 39_000);
    await releaseChunk(scene.items, name, { worker: 'w', now });
    expect(await renew(6000)).toMatchObject({ kept: false });
    const free = await scene.chunk(1);
    expect([free?.worker, free?.until]).toEqual([undefined, undefined]);
  });

  test('that is given back before its rows could be read keeps their count', async () => {
    const scene = await ready(2);
    scene.replies = (row) => {
      if (row === 2) throw refusal(429, [], { 'retry-after': '600' });
      return done(row);
    };
    await scene.deliver(worker(scene), scene.take());
    scene.clock.now += 600_000;
    const process = engines.newProcess();
    process.instead('GetObject', () => {
      throw new Error('S3 does not answer.');
    });
    await expect(scene.deliver(worker(scene, 1, process), scene.take())).rejects.toThrow();
    const left = await scene.chunk(1);
    expect([left?.worker, left?.done, left?.inputTokens]).toEqual([undefined, 1, 10]);
  });
});

describe('a look', () => {
  /** Rows one after another; a look is made while the second is in flight, after something was done. */
  async function lookAfter(
    scene: Scene,
    action: () => Promise<unknown>,
    afterwards: () => Promise<unknown> = async () => {},
  ) {
    let look = () => {};
    const process = engines.newProcess();
    const bench: Workbench = {
      ...worker(scene, 1, process),
      sleep: async (ms) => {
        if (!isLook(ms)) return await scene.passing(ms);
        return await new Promise<void>((resolve) => {
          look = resolve;
        });
      },
    };
    scene.replies = async (row) => {
      if (row !== 2) return done(row);
      // The first row's turn is over before it is written.
      await vi.waitFor(async () => expect(await scene.rows()).toHaveLength(1), { interval: 2 });
      await sleep(5);
      await action();
      const [noted, read] = [latch(), latch()];
      process.after('UpdateItem', async () => noted.open());
      process.after('GetItem', async () => read.open());
      look();
      await Promise.all([noted.opened, read.opened]);
      await sleep(20);
      await afterwards();
      return done(row);
    };
    return await scene.deliver(bench, scene.take());
  }

  test('writes how far the chunk has come', async () => {
    const scene = await ready(3);
    let seen: unknown;
    await lookAfter(
      scene,
      async () => {
        expect((await scene.progress()).done).toBe(0);
      },
      async () => {
        const { done: rows, gateMs, settled, wroteAt } = (await scene.chunk(1)) ?? expect.fail();
        seen = { rows, gateMs, settled, wroteAt };
      },
    );
    expect(seen).toEqual({ rows: 1, gateMs: 0, settled: false, wroteAt: scene.clock.now });
    await scene.expectComplete(3);
  });

  test('tells of rows that a killed worker had written, and not counted, as come now', async () => {
    const scene = await ready(6);
    const killed = engines.newProcess();
    // The import, the claim, its rows and its object; then answers, each with its row.
    killed.dieAfter(8);
    const work = scene.take();
    await expect(scene.deliver(scene.benchOf(killed, { gate: 1 }), work)).rejects.toThrow();
    const before = (await scene.chunk(1)) ?? expect.fail();
    const written = (await scene.rows()).length;
    expect([before.done, before.wroteAt, written > 0]).toEqual([0, undefined, true]);
    scene.clock.now += LEASE + SKEW;
    const { now } = scene.clock;
    scene.replies = async (row) => {
      // The first look comes while nothing new is written.
      if (row > written) await vi.waitFor(async () => expect(movedAt).toBeDefined());
      return done(row);
    };
    let movedAt: number | undefined;
    const bench: Workbench = {
      ...scene.benchOf(engines.newProcess(), { gate: 1 }),
      sleep: async () => {
        await sleep(20);
        movedAt ??= (await scene.chunk(1))?.wroteAt;
      },
    };
    await scene.deliver(bench, work);
    expect(movedAt).toBe(now);
    await scene.expectComplete(6);
  });

  test('at the first chunk comes sooner: somebody may wait for the first row to appear', async () => {
    const scene = await ready(6, 3);
    const rests: number[] = [];
    for (const chunk of [1, 2]) {
      const bench = worker(scene);
      const sleep: Workbench['sleep'] = (ms) => {
        if (isLook(ms)) rests.push(ms / chunk);
        return bench.sleep(ms);
      };
      const work = { importId: scene.importId, chunk, round: 0 };
      await scene.deliver({ ...bench, sleep }, work);
    }
    expect(rests).toEqual([FIRST_LOOK_EVERY, LOOK_EVERY / 2]);
  });

  test.each([
    ['a pause', 'paused', pauseOf],
    ['a cancellation', 'over', cancelOf],
    ['a retry', 'stale', retryOf],
  ] as const)('sees %s, and takes no new row', async (_, why, action) => {
    const scene = await ready(5);
    const outcome = await lookAfter(scene, async () => await action(scene));
    expect(outcome).toEqual({ kind: 'unwanted', why });
    const rows = await scene.rows();
    expect(rows.map(({ row, state }) => [row, state])).toEqual([
      [1, 'done'],
      [2, 'done'],
    ]);
    expect(scene.ledger).toHaveLength(2);
    const left = await scene.chunk(1);
    expect([left?.worker, left?.settled, left?.done]).toEqual([undefined, false, 2]);
    // Only a round that has begun meanwhile wants the rest of it.
    const rounds = scene.chunks.map(({ work }) => work.round);
    expect(rounds).toEqual(why === 'stale' ? [1] : []);
  });

  test.each([
    ['a pause', pauseOf, resumeAndSend, 0],
    ['a retry, and another', retryOf, retryAndSend, 2],
  ] as const)(
    'sees %s; what is wanted again before its last call ends goes on at once then',
    async (_, action, again, round) => {
      const scene = await ready(5);
      const outcome = await lookAfter(
        scene,
        async () => await action(scene),
        async () => {
          await again(scene);
          // Nobody else may have it yet.
          const early = await scene.deliver(worker(scene), scene.take());
          expect(early).toEqual({ kind: 'handed-back', left: 0 });
          expect(scene.chunks.map(({ at }) => at > scene.clock.now + LEASE)).toEqual([true]);
        },
      );
      expect(outcome.kind).toBe('unwanted');
      const due = scene.chunks.filter(({ at }) => at <= scene.clock.now);
      expect(due.map(({ work }) => [work.chunk, work.round])).toEqual([[1, round]]);
      scene.replies = done;
      await scene.deliver(worker(scene), due[0]?.work ?? expect.fail());
      await scene.expectComplete(5);
      scene.expectPaidOnce([], 5);
    },
  );

  test('sees a pause while a row rests from a refusal: it rests no longer', async () => {
    const scene = await ready(2);
    let look = () => {};
    const resting = latch();
    const bench: Workbench = {
      ...worker(scene, 2),
      sleep: (ms) =>
        new Promise<void>((wake) => {
          if (isLook(ms)) look = wake;
          else resting.open();
        }),
    };
    scene.replies = (row) => {
      if (row === 1) throw refusal(500);
      return done(row);
    };
    const delivered = scene.deliver(bench, scene.take());
    await resting.opened;
    await pauseOf(scene);
    look();
    expect(await delivered).toEqual({ kind: 'unwanted', why: 'paused' });
    const left = await scene.chunk(1);
    expect([left?.until, left?.done]).toEqual([undefined, 1]);
  });

  test('that finds the claim with another takes no new row, either', async () => {
    const scene = await ready(5);
    let until = 0;
    const outcome = await lookAfter(scene, async () => {
      const now = scene.clock.now + LEASE + SKEW;
      until = now + 1;
      const name = { importId: scene.importId, chunk: 1, round: 0 };
      const claim = await claimChunk(scene.items, name, { worker: 'another', until, now });
      expect(claim.kind).toBe('won');
    });
    expect(outcome).toEqual({ kind: 'unwanted', why: 'lost' });
    expect([scene.paid(2), scene.paid(3)]).toEqual([1, 0]);
    const held = await scene.chunk(1);
    expect([held?.worker, held?.done, held?.settled]).toEqual(['another', 0, false]);
    expect(held?.until).toBe(until);
    expect(scene.chunks).toEqual([]);
  });

  test('that finds the claim taken away does not take it back', async () => {
    const scene = await ready(5);
    const outcome = await lookAfter(scene, async () => {
      scene.clock.now += LEASE + SKEW + SKEW;
      const [found] = await scene.reap(engines.newProcess());
      expect(found?.kind).toBe('resent');
    });
    expect(outcome).toEqual({ kind: 'unwanted', why: 'lost' });
    const free = await scene.chunk(1);
    expect([free?.worker, free?.until]).toEqual([undefined, undefined]);
    // The reaper's message is the only one.
    expect(scene.chunks).toHaveLength(1);
    await scene.deliver(worker(scene), scene.take());
    await scene.expectComplete(5);
    scene.expectPaidOnce([], 5);
  });

  async function pauseOf(scene: Scene) {
    await pauseImport(scene.items, scene.importId, scene.clock.now);
  }
  async function cancelOf(scene: Scene) {
    await cancelImport(scene.items, scene.importId, scene.clock.now);
  }
  async function retryAndSend(scene: Scene) {
    await retryOf(scene);
    await sendAll(scene.deskOf(engines.newProcess()), scene.importId);
  }
  async function retryOf(scene: Scene) {
    const { now } = scene.clock;
    await retryImport(scene.items, await scene.item(), { now, done: 0 });
  }
});

test('an import that has cost what it may is paused after the chunk', async () => {
  const scene = await ready(6, 2, { maxCostUsd: 3 });
  const dear = { ...done(1), usage: { inputTokens: 1_000_000, outputTokens: 0 } };
  scene.replies = () => dear;
  const bench = worker(scene);
  await scene.deliver(bench, scene.take());
  expect((await scene.item()).state).toBe('running');
  const second = await scene.deliver(bench, scene.take());
  expect(second).toMatchObject({ kind: 'settled', completed: false });
  const { state, failure } = await scene.item();
  expect([state, failure?.code]).toEqual(['paused', 'budget-spent']);
  expect(failure?.message).toMatch(/has cost 4\.00 USD of the 3\.00 USD that it may/);
  const third = await scene.deliver(bench, scene.take());
  expect(third).toEqual({ kind: 'unwanted', why: 'paused' });
  expect(scene.ledger).toHaveLength(4);
  // The last chunk ends the import, whatever that has cost.
  await resumeAndSend(scene);
  await scene.deliver(bench, scene.take());
  await scene.expectComplete(6);
});

describe('the records of one invocation', () => {
  const logger = new Logger({ logLevel: 'SILENT' });
  const metrics = new Metrics({ namespace: 'test', serviceName: 'test' });
  const context = { getRemainingTimeInMillis: () => INVOCATION, awsRequestId: 'id' } as Context;

  const record = (body: string, index: number) =>
    ({
      messageId: String(index + 1),
      body,
      attributes: { ApproximateReceiveCount: '1' },
      eventSourceARN: 'arn:aws:sqs:us-east-1:0:bulk',
    }) as SQSRecord;

  test('share the gate, and one that throws fails alone', async () => {
    const scene = await ready(8, 2);
    await engines.s3.send(
      new DeleteObjectCommand({ Bucket: IMPORTS, Key: chunkObjectKey(scene, 2) }),
    );
    let inFlight = 0;
    let most = 0;
    scene.replies = async (row) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      // The first ones wait for each other: no chunk has three rows.
      await until(() => most >= 3);
      await sleep(2);
      inFlight -= 1;
      return done(row);
    };
    const bench = worker(scene, 3);
    const handler = queueHandler({
      logger,
      metrics,
      process: async ({ body }) => {
        await scene.deliver(bench, parseChunkWork(body));
      },
      begin: () => bench.gate.reset(),
      atOnce: true,
      needsMs: 0,
    });
    const bodies = scene.chunks.map(({ work }) => encodeChunkWork(work));
    const answered = await handler({ Records: [...bodies, 'no JSON'].map(record) }, context);
    expect(answered.batchItemFailures).toEqual([{ itemIdentifier: '2' }]);
    expect(most).toBe(3);
    expect((await scene.rows()).map(({ row }) => row)).toEqual([1, 2, 5, 6, 7, 8]);
    scene.expectPaidOnce([], 8);
  });
});
