import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Context } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sendAll } from '../../../functions/import-intake/send-all.ts';
import { lookAfter } from '../../../functions/import-reaper/look-after.ts';
import { reapImport } from '../../../functions/import-reaper/reap-import.ts';
import { pauseImport, resumeImport } from '../../../shared/imports/change-state.ts';
import { claimChunk, renewClaim, settleChunk } from '../../../shared/imports/claim-chunk.ts';
import { NO_TALLIES } from '../../../shared/imports/import-item.ts';
import { ACTIVE, importKey } from '../../../shared/imports/imports-table.ts';
import { writeRow } from '../../../shared/imports/write-row.ts';
import { parseJobs } from '../../../shared/messages/import-job.ts';
import { type Engines, startEngines } from '../engines.ts';
import { answer, INVOCATION, Scene } from './scene.ts';

let engines: Engines;
let table: string;
beforeAll(async () => {
  engines = await startEngines();
  table = await engines.createImportsTable();
});
afterAll(() => engines.stop());

const MINUTE = 60_000;

const newScene = (chunkRows = 2, where = table) => new Scene(engines, where, chunkRows);
const reap = async (scene: Scene) => await scene.reap(engines.newProcess());
const jobsOf = (scene: Scene) => scene.jobs.splice(0).flatMap(parseJobs);

/** A worker that dies after the first row's call, with its claim. */
async function dieWith(scene: Scene): Promise<void> {
  const process = engines.newProcess();
  process.after('Provider', async () => process.dieAfter(1));
  const work = scene.take();
  await expect(scene.deliver(scene.benchOf(process, { gate: 1 }), work)).rejects.toThrow();
}

const LAPSED = INVOCATION + 10_000;

describe('a chunk whose worker ended in the middle', () => {
  test('is sent again, then closed: its rows say why, and the import ends', async () => {
    const scene = await newScene().ready(4);
    await dieWith(scene);
    // Its claim may still be somebody's.
    expect(await reap(scene)).toEqual([]);
    const reason = 'Chunk 1 was left by a worker that ended in the middle of it.';
    scene.chunks.length = 0;
    for (const resent of [1, 2, 3]) {
      scene.clock.now += LAPSED;
      expect((await reap(scene))[0]).toEqual({ kind: 'resent', chunk: 1, resent, reason });
      // The API names it.
      expect((await scene.item()).stalled).toEqual({
        chunk: 1,
        reason,
        resent,
        at: scene.clock.now,
      });
      // The other one goes with it, as its message is gone.
      const [own, other] = scene.chunks.splice(0);
      expect(own?.work).toEqual({ importId: scene.importId, chunk: 1, round: 0 });
      expect(other?.work.chunk).toBe(2);
      if (own !== undefined) scene.chunks.push(own);
      // Once is enough.
      expect(await reap(scene)).toEqual([]);
      await dieWith(scene);
    }
    scene.clock.now += LAPSED;
    const why = 'stalled: 4 workers ended in the middle of the chunk of this row';
    expect(await reap(scene)).toEqual([{ kind: 'closed', chunk: 1, reason: why }]);
    expect(await reap(scene)).toEqual([]);
    expect((await scene.item()).state).toBe('running');

    scene.chunks.push({
      work: { importId: scene.importId, chunk: 2, round: 0 },
      at: scene.clock.now,
    });
    await scene.deliver(scene.benchOf(engines.newProcess()), scene.take());
    await scene.expectComplete(4, 2);
    const rows = await scene.rows();
    expect(rows.map(({ reason: said }) => said)).toEqual([why, why, undefined, undefined]);
    expect((await scene.item()).stalled).toBeUndefined();
  });

  test('takes those along that were given to a worker and not begun, where none waits', async () => {
    const scene = await newScene().ready(6);
    await dieWith(scene);
    const rest = scene.chunks.splice(0);
    scene.chunks.push(...rest.slice(1));
    scene.clock.now += LAPSED;
    // Another message waits: those that are not begun may still come to their turn.
    expect((await reap(scene)).map(({ kind }) => kind)).toEqual(['resent']);
    scene.chunks.reverse();
    await dieWith(scene);
    scene.chunks.length = 0;
    scene.clock.now += LAPSED;
    expect((await reap(scene)).map(({ kind }) => kind)).toEqual(['resent', 'sent-unbegun']);
    const sent = scene.chunks.map(({ work }) => work.chunk);
    expect(sent.sort()).toEqual([1, 2, 3]);
    await scene.recover();
    await scene.expectComplete(6);
  });

  test('and the last of its import is told of as its completion, too', async () => {
    const scene = await newScene().ready(2);
    await dieWith(scene);
    for (let resent = 1; resent <= 3; resent++) {
      scene.clock.now += LAPSED;
      await reap(scene);
      await dieWith(scene);
    }
    scene.clock.now += LAPSED;
    expect((await reap(scene)).map(({ kind }) => kind)).toEqual(['closed', 'completed']);
    await scene.expectComplete(2, 2);
  });

  test('keeps the rows that a late worker writes, before and after', async () => {
    const scene = await newScene(3).ready(3);
    let go = () => {};
    const blocked = new Promise<void>((resolve) => {
      go = resolve;
    });
    scene.replies = async (row) => {
      if (row === 2) await blocked;
      return answer('done', `summary of ${row}`);
    };
    const late = scene.deliver(scene.benchOf(engines.newProcess(), { gate: 1 }), scene.take());
    await vi.waitFor(() => expect(scene.paid(2)).toBe(1), { interval: 1 });
    const process = engines.newProcess();
    const reaper = { ...scene.reaperOf(process), resends: 0 };
    scene.clock.now += LAPSED;
    // It writes its row between the reaper's reading and its writing.
    process.after('GetObject', async () => {
      const place = { importId: scene.importId, page: 1, ttl: 9_999_999_999 };
      await writeRow(scene.items, place, {
        row: 2,
        id: '2',
        state: 'done',
        summary: 'late',
        round: 0,
        inputTokens: 1,
        outputTokens: 1,
      });
    });
    const { findings } = await reapImport(reaper, scene.importId);
    expect(findings[0]).toMatchObject({ kind: 'closed' });
    go();
    // It takes no further row, and what it has lost it does not hand back.
    expect(await late).toEqual({ kind: 'unwanted', why: 'lost' });
    expect(scene.chunks).toEqual([]);
    expect(scene.paid(3)).toBe(0);
    await scene.expectComplete(3, 1);
    expect((await scene.rows()).map(({ summary }) => summary)).toEqual([
      'summary of 1',
      'late',
      undefined,
    ]);
    expect(scene.completions).toBe(0);
  });

  test('is left alone once another has claimed it meanwhile', async () => {
    const scene = await newScene().ready(2);
    await dieWith(scene);
    scene.clock.now += LAPSED;
    const process = engines.newProcess();
    const name = { importId: scene.importId, chunk: 1, round: 0 };
    process.after('Query', async () => {
      const { now } = scene.clock;
      const claim = { worker: 'next', until: now + INVOCATION, now };
      expect((await claimChunk(scene.items, name, claim)).kind).toBe('won');
    });
    expect(await scene.reap(process)).toEqual([]);
    expect(scene.chunks).toEqual([]);
    const held = await scene.chunk(1);
    expect([held?.worker, held?.resent]).toEqual(['next', 0]);
  });
});

describe('a round of the reaper', () => {
  /** Looks after what there is, in a minute that passes as fast as it can; answers when it found what. */
  async function lookAfterFor(scene: Scene, own: string, ms: number, passing?: () => unknown) {
    const { clock } = scene;
    const began = clock.now;
    const found: { afterMs: number; kind: string }[] = [];
    const table = { client: engines.dynamo, name: own };
    await lookAfter(
      { ...scene.reaperOf(engines.newProcess()), table },
      {
        until: began + ms,
        sleep: async (rest) => {
          clock.now += rest;
          await passing?.();
        },
        found: (_, { kind }) => found.push({ afterMs: clock.now - began, kind }),
        failed: (_, error) => expect.fail(String(error)),
      },
    );
    return { found, tookMs: clock.now - began };
  }

  test('looks again when the first claim lapses, and sends what its worker left', async () => {
    const own = await engines.createImportsTable();
    const scene = await newScene(2, own).ready(4);
    await dieWith(scene);
    scene.clock.now += 5000;
    const { found, tookMs } = await lookAfterFor(scene, own, 50_000);
    // 35 s from when it was claimed, and half a second for others that began with it.
    expect(found).toEqual([{ afterMs: 30_500, kind: 'resent' }]);
    expect(tookMs).toBe(30_500);
    await scene.recover();
    await scene.expectComplete(4);
  });

  test('leaves alone what its worker has renewed meanwhile, and ends in time', async () => {
    const own = await engines.createImportsTable();
    const scene = await newScene(2, own).ready(4);
    const name = { importId: scene.importId, chunk: 1, round: 0 };
    const claim = () => ({ worker: 'w', now: scene.clock.now, until: scene.clock.now + 35_000 });
    await claimChunk(scene.items, name, claim());
    let looks = 0;
    const { found, tookMs } = await lookAfterFor(scene, own, 50_000, async () => {
      looks += 1;
      expect((await renewClaim(scene.items, name, claim())).kept).toBe(true);
    });
    expect({ found, tookMs, looks }).toEqual({ found: [], tookMs: 35_500, looks: 1 });
    expect((await scene.chunk(1))?.worker).toBe('w');
  });

  test('waits for nobody where nobody works, and until somebody must have begun', async () => {
    const own = await engines.createImportsTable();
    const scene = await newScene(2, own).ready(4, { hold: true });
    expect(await lookAfterFor(scene, own, 50_000)).toEqual({ found: [], tookMs: 0 });
    const other = await newScene(2, own).ready(4);
    other.chunks.length = 0;
    const { found, tookMs } = await lookAfterFor(other, own, 50_000);
    expect({ found, tookMs }).toEqual({
      found: [{ afterMs: 45_500, kind: 'sent-all' }],
      tookMs: 45_500,
    });
  });
});

describe('an import that is healthy', () => {
  test('is left alone, in each of its states', async () => {
    const waiting = await newScene().begin(1);
    const running = await newScene().ready(2);
    const paused = await newScene().ready(2, { hold: true });
    const working = await newScene().ready(2);
    await claimChunk(
      working.items,
      { importId: working.importId, chunk: 1, round: 0 },
      { worker: 'w', until: working.clock.now + INVOCATION + 1, now: working.clock.now },
    );
    for (const scene of [waiting, running, paused, working]) {
      const before = await scene.item();
      scene.clock.now += INVOCATION;
      expect(await reap(scene)).toEqual([]);
      expect(await scene.item()).toEqual(before);
      expect(scene.jobs).toEqual([]);
    }
    // Somebody may look at it for days.
    paused.clock.now += 86_400_000;
    expect(await reap(paused)).toEqual([]);
  });

  test('and over stays as it is', async () => {
    const scene = await newScene().ready(1);
    await scene.recover();
    scene.clock.now += 86_400_000;
    expect(await reap(scene)).toEqual([]);
    await scene.expectComplete(1);
  });
});

describe('what is lost on the way', () => {
  test('a file that never came ends its import, an hour after its form has', async () => {
    const scene = await newScene().begin(1);
    scene.clock.now += 2 * 3_600_000 - 1;
    expect(await reap(scene)).toEqual([]);
    scene.clock.now += 1;
    const reason = 'No file was uploaded in time.';
    expect(await reap(scene)).toEqual([{ kind: 'failed', reason }]);
    const { state, failure } = await scene.item();
    expect([state, failure]).toEqual(['failed', { code: 'not-uploaded', message: reason }]);
  });

  test('a reading that was cut off is begun again, less often each time', async () => {
    const scene = await newScene().begin(1);
    const dying = engines.newProcess();
    dying.dieAfter(3);
    await expect(scene.read(dying)).rejects.toThrow();
    expect((await scene.item()).state).toBe('reading');
    expect(await reap(scene)).toEqual([]);
    const sent: number[] = [];
    for (let minute = 1; minute <= 32; minute++) {
      scene.clock.now += MINUTE;
      const findings = await reap(scene);
      if (findings.length === 0) continue;
      expect(findings).toEqual([
        { kind: 'read-again', reason: 'The reading of the file was cut off.' },
      ]);
      sent.push(minute);
      expect((await scene.item()).stalled?.resent).toBe(sent.length);
    }
    // While nobody takes them, they must not use up the readings that a file has.
    expect(sent).toEqual([1, 3, 7, 15, 31]);
    const [job] = jobsOf(scene);
    expect(job).toEqual({ kind: 'read', key: `sources/${scene.importId}.csv`, etag: scene.etag });
    await scene.read(engines.newProcess());
    await scene.recover();
    await scene.expectComplete(1);
  });

  test('a sending that was cut off is begun again', async () => {
    const scene = await newScene(1).ready(2, { hold: true });
    const { now } = scene.clock;
    await resumeImport(scene.items, await scene.item(), { now, settled: 0 });
    scene.clock.now += MINUTE;
    expect(await reap(scene)).toEqual([]);
    scene.clock.now += 1;
    expect(await reap(scene)).toEqual([
      { kind: 'sent-all', reason: 'The sending of its chunks was cut off.' },
    ]);
    expect(jobsOf(scene)).toEqual([{ kind: 'send', importId: scene.importId }]);
    await sendAll(scene.deskOf(engines.newProcess()), scene.importId);
    expect(await reap(scene)).toEqual([]);
    expect(scene.chunks).toHaveLength(2);
  });

  test.each([
    ['that are gone are sent again, less often each time', 0, [0.75, 1.5, 3, 6]],
    ['that wait for their turn are left to it for longer', 1, [15, 15, 15, 15]],
  ])('messages %s, and then the import asks for help', async (_, waiting, minutes) => {
    const scene = await newScene().ready(2);
    expect(scene.chunks).toHaveLength(1);
    scene.chunks.length = waiting;
    const said = (each = 0) => {
      const whole = Math.max(1, Math.floor(each));
      return `No worker has begun a chunk for ${whole} ${whole === 1 ? 'minute' : 'minutes'}.`;
    };
    const wait = async (each = 0) => {
      scene.clock.now += each * MINUTE;
      expect(await reap(scene)).toEqual([]);
      scene.clock.now += 1;
    };
    for (const resent of [1, 2, 3]) {
      await wait(minutes[resent - 1]);
      const reason = said(minutes[resent - 1]);
      expect(await reap(scene)).toEqual([{ kind: 'sent-all', reason }]);
      expect((await scene.item()).stalled).toEqual({ reason, resent, at: scene.clock.now });
      expect(jobsOf(scene)).toEqual([{ kind: 'send', importId: scene.importId }]);
    }
    await wait(minutes[3]);
    const reason = said(minutes[3]);
    const [paused] = await reap(scene);
    expect(paused?.kind).toBe('paused');
    const { state, failure } = await scene.item();
    expect([state, failure?.code]).toEqual(['paused', 'no-worker']);
    expect(failure?.message).toBe(
      `${reason} Everything was sent again 3 times: ask whoever runs Glimpse whether the chunk worker runs and may, then resume.`,
    );
  });

  test('a page that nobody closed is, a minute later, and so is the import', async () => {
    const scene = await newScene().ready(2);
    const name = { importId: scene.importId, chunk: 1, round: 0 };
    const { now } = scene.clock;
    await claimChunk(scene.items, name, { worker: 'w', until: now + INVOCATION, now });
    const place = { importId: scene.importId, page: 1, ttl: 9_999_999_999 };
    for (const row of [1, 2]) {
      const done = { row, id: `${row}`, state: 'done', summary: 's', round: 0 } as const;
      await writeRow(scene.items, place, { ...done, inputTokens: 1, outputTokens: 1 });
    }
    const tallies = { ...NO_TALLIES, done: 2 };
    await settleChunk(scene.items, name, { worker: 'w', now, tallies });
    scene.clock.now += MINUTE;
    expect(await reap(scene)).toEqual([]);
    scene.clock.now += 1;
    expect(await reap(scene)).toEqual([{ kind: 'completed' }]);
    await scene.expectComplete(2);
  });

  test('a completion that nobody wrote is, though all pages are full', async () => {
    const scene = await newScene().ready(2);
    const process = engines.newProcess();
    // All but the last of its calls.
    process.after('PutItem', async () => {
      process.after('PutItem', async () => process.dieAfter(4));
    });
    await expect(scene.deliver(scene.benchOf(process), scene.take())).rejects.toThrow();
    const { state, pages } = await scene.item();
    expect([state, Object.keys(pages)]).toEqual(['running', ['1']]);
    scene.clock.now += MINUTE + 1;
    expect(await reap(scene)).toEqual([{ kind: 'completed' }]);
    await scene.expectComplete(2);
  });
});

describe('the function', () => {
  test('goes on with the others where one throws, and its log names what is stalled', async () => {
    const own = await engines.createImportsTable();
    const now = Date.now();
    const scenes = [newScene(2, own), newScene(2, own), newScene(2, own)];
    for (const scene of scenes) {
      scene.clock.now = now - 300_000;
      await scene.ready(2);
    }
    const [first, , last] = scenes;
    const broken = scenes[1]?.importId ?? '';
    await dieWith(last ?? expect.fail());
    await dieWith(first ?? expect.fail());
    await engines.dynamo.send(
      new PutCommand({
        TableName: own,
        Item: { ...importKey(broken), importId: broken, active: ACTIVE, state: 'lost' },
      }),
    );
    const { protocol, hostname, port } =
      (await engines.dynamo.config.endpoint?.()) ?? expect.fail();
    const queueUrl = `${engines.s3Endpoint}/000000000000/on-demand`;
    const env = {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_ENDPOINT_URL_DYNAMODB: `${protocol}//${hostname}:${port}`,
      AWS_ENDPOINT_URL_S3: engines.s3Endpoint,
      AWS_ENDPOINT_URL_SQS: engines.s3Endpoint,
      IMPORTS_TABLE: own,
      IMPORTS_BUCKET: 'imports',
      INTERACTIVE_QUEUE_URL: queueUrl,
      BULK_QUEUE_URL: queueUrl,
      JOBS_QUEUE_URL: queueUrl,
      STALLED: '{"resends":3,"quietMinutes":{"interactive":2,"bulk":15}}',
      POWERTOOLS_METRICS_NAMESPACE: 'test',
    };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const lines: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      lines.push(String(text));
      return true;
    });
    const errors = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      lines.push(String(text));
      return true;
    });
    try {
      const { handler } = await import('../../../functions/import-reaper/handler.ts');
      await handler({}, { getRemainingTimeInMillis: () => 60_000 } as Context);
    } finally {
      write.mockRestore();
      errors.mockRestore();
      vi.unstubAllEnvs();
    }
    const log = lines
      .join('')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
    const stalled = log.filter(({ message }) => message === 'an import had stalled');
    expect(stalled.map(({ importId, chunk, kind }) => [importId, chunk, kind])).toEqual([
      [first?.importId, 1, 'resent'],
      [last?.importId, 1, 'resent'],
    ]);
    expect(stalled[0]?.reason).toMatch(/^Chunk 1 was left by a worker/);
    expect(log.filter(({ level }) => level === 'ERROR').map(({ importId }) => importId)).toEqual([
      broken,
    ]);
    expect(log.find((line) => line._aws !== undefined)?.ImportsStalled).toBe(2);
  });
});

test('an import that is paused while it is looked at stays paused', async () => {
  const scene = await newScene().ready(2);
  scene.chunks.length = 0;
  scene.clock.now += 900_001;
  const process = engines.newProcess();
  process.after('GetItem', async () => {
    await pauseImport(scene.items, scene.importId, scene.clock.now);
  });
  await scene.reap(process);
  const { state, stalled } = await scene.item();
  expect([state, stalled]).toEqual(['paused', undefined]);
  // A job too many finds nothing to send.
  expect(await sendAll(scene.deskOf(process), scene.importId)).toBe(0);
});
