import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chunksOf } from '../../../shared/imports/layout.ts';
import { type Engines, type Process, startEngines } from '../engines.ts';
import { answer, INVOCATION, Scene } from './scene.ts';

// Intake and the chunk worker are stopped after each of their calls in turn, AWS's and the
// provider's; what was not acknowledged is delivered again. The end must always be the same.

let engines: Engines;
let table: string;
beforeAll(async () => {
  engines = await startEngines();
  table = await engines.createImportsTable();
});
afterAll(() => engines.stop());

const ROWS = 4;

const newScene = () => new Scene(engines, table, 2);

async function everyCall(
  work: (scene: Scene, process: Process) => Promise<unknown>,
  prepare: (scene: Scene) => Promise<unknown>,
  end: (scene: Scene, inFlight: number[]) => Promise<void>,
): Promise<number> {
  const alive = engines.newProcess();
  const whole = newScene();
  await prepare(whole);
  await work(whole, alive);
  const calls = alive.calls.length;
  for (let survived = 1; survived <= calls; survived++) {
    const scene = newScene();
    await prepare(scene);
    const dying = engines.newProcess();
    dying.dieAfter(survived);
    await expect(work(scene, dying)).rejects.toThrow();
    const inFlight = await scene.inFlight(dying);
    const { done, failed } = await scene.progress();
    expect(done + failed).toBeLessThanOrEqual(ROWS);
    await end(scene, inFlight);
  }
  return calls;
}

describe('intake that is stopped after any of its calls', () => {
  test('reads again, and sends every chunk after the total is written', async () => {
    const calls = await everyCall(
      async (scene, process) => await scene.read(process),
      async (scene) => await scene.begin(ROWS),
      async (scene) => {
        const { layout } = await scene.item();
        // Nothing goes out before the total is there.
        if (layout === undefined) expect(scene.chunks).toEqual([]);
        await scene.read(engines.newProcess());
        const { state } = await scene.item();
        expect(state).toBe('running');
        expect(new Set(scene.chunks.map(({ work }) => work.chunk))).toEqual(new Set([1, 2]));
        await scene.recover();
        await scene.expectComplete(ROWS);
        scene.expectPaidOnce([], ROWS);
      },
    );
    expect(calls).toBeGreaterThan(8);
  });
});

describe('a worker that is stopped after any of its calls', () => {
  /** One process does all chunks, one after another; what it did not acknowledge stays. */
  async function workAll(scene: Scene, process: Process): Promise<void> {
    const bench = scene.benchOf(process, { gate: 2 });
    while (scene.chunks.length > 0) {
      const [message] = scene.chunks;
      if (message === undefined) return;
      await scene.deliver(bench, message.work);
      scene.chunks.shift();
    }
  }

  async function prepared(scene: Scene): Promise<void> {
    await scene.begin(ROWS);
    await scene.read(engines.newProcess());
  }

  test('leaves rows that the next delivery skips, and an import that completes once', async () => {
    const calls = await everyCall(workAll, prepared, async (scene, inFlight) => {
      scene.clock.now += INVOCATION;
      await scene.recover();
      await scene.expectComplete(ROWS);
      scene.expectPaidOnce([inFlight], ROWS);
      // Killed between the write and the telling, it is complete and nobody was told.
      expect(scene.completions).toBeLessThanOrEqual(1);
    });
    // Two chunks of 2 rows: each row is a call and a write.
    expect(calls).toBeGreaterThan(2 * ROWS + 2 * 5);
  });

  test('the same with a row that fails, and a retry that is stopped as well', async () => {
    const failing = (scene: Scene) => {
      scene.replies = (row, paid) =>
        row === 3 && paid === 1 ? answer('refused', '') : answer('done', 'a summary');
    };
    await everyCall(
      workAll,
      async (scene) => {
        failing(scene);
        await prepared(scene);
      },
      async (scene, inFlight) => {
        scene.clock.now += INVOCATION;
        await scene.recover();
        // Paid for and lost at the kill, its second answer is a summary.
        const failed = inFlight.includes(3) ? 0 : 1;
        await scene.expectComplete(ROWS, failed);
        scene.expectPaidOnce([inFlight], ROWS);
      },
    );
  });

  test('a message that nobody delivers again is found by the reaper', async () => {
    await everyCall(workAll, prepared, async (scene, inFlight) => {
      scene.chunks.length = 0;
      await scene.recover();
      await scene.expectComplete(ROWS);
      scene.expectPaidOnce([inFlight], ROWS);
    });
  });
});

test('how many calls a chunk costs', async () => {
  const scene = await new Scene(engines, table, 50).begin(50);
  await scene.read(engines.newProcess());
  const process = engines.newProcess();
  const [message] = scene.chunks;
  await scene.deliver(scene.benchOf(process), message?.work ?? expect.fail());
  const { layout } = await scene.item();
  expect(chunksOf(layout ?? expect.fail())).toBe(1);
  const counted: Record<string, number> = {};
  for (const call of process.calls) counted[call] = (counted[call] ?? 0) + 1;
  expect(counted).toEqual({
    GetItem: 1,
    // Written rows, and the page after the chunk was settled.
    Query: 2,
    GetObject: 1,
    Provider: 50,
    PutItem: 50,
    // The claim, the settling; the page and the completion, as it was the last.
    UpdateItem: 4,
  });
});
