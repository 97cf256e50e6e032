import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import pLimit from 'p-limit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Mode } from '../../../shared/fleet/allowance-settings.ts';
import { lanesOf, layOut, type Pool } from '../../../shared/fleet/lanes.ts';
import { type Line, openLine } from '../../../shared/fleet/line.ts';
import { type FleetTable, lineKey, NOTHING_KNOWN } from '../../../shared/fleet/line-item.ts';
import { createSoloLine } from '../../../shared/fleet/solo-line.ts';
import { addUsage, NO_USAGE, readUsage } from '../../../shared/fleet/usage-item.ts';
import { type Engines, type Process, startEngines } from '../engines.ts';

let engines: Engines;
let table: FleetTable;
const processes: Process[] = [];

beforeAll(async () => {
  engines = await startEngines();
  table = { client: engines.dynamo, name: await engines.createFleetTable() };
  for (let index = 0; index < 4; index++) processes.push(engines.newProcess());
});
afterAll(() => engines.stop());

let lines = 0;

/** A line that nobody has used yet, as each of some processes has it. */
function newLine(): { name: string; line: Line; others: Line[] } {
  const name = `line-${++lines}`;
  return {
    name,
    line: openLine(table, name),
    others: processes.map(({ dynamo }) => openLine({ client: dynamo, name: table.name }, name)),
  };
}

const layout = layOut({
  line: 'shared',
  requestsPerMinute: 6000,
  tokensPerMinute: null,
  interactiveShare: 0.3,
  frameSeconds: 2,
  reserve: 0.1,
});

const none = { outdated: [] };
const ask = (pool: Pool, frame: number, lanes: number) => ({ pool, frame, lanes });

describe('lanes', () => {
  test('are given once each, and all of them, to processes that ask at the same time', async () => {
    const { others } = newLine();
    // moto reads an item and then writes it: of two at once it may lose one.
    const limit = pLimit(process.env.TEST_ENGINE === 'moto' ? 1 : 40);
    const granted: number[] = [];
    await limit.map(
      Array.from({ length: 40 }, (_, index) => index),
      async (index) => {
        const asks = [ask('common', 7, 1 + (index % 5)), ask('interactive', 7, 1)];
        const line = others[index % others.length];
        if (line === undefined) throw new Error('no line');
        const { taken, state } = await line.take(asks, none);
        expect(taken).toBe(true);
        for (const { pool, lanes, frame } of asks)
          granted.push(...lanesOf(layout, pool, lanes, state.counts.get(`${pool}/${frame}`) ?? 0));
      },
    );
    // Of 120 asked for there are 70, and of 40 there are 30.
    expect(granted.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, lane) => lane),
    );
  });

  test('of an ask that was repeated, because its answer was lost, are nobody else’s', async () => {
    const { line, others } = newLine();
    const [process] = processes;
    const [own] = others;
    // The store has done it, and the network fails: the SDK asks again.
    let lost = 0;
    process?.dynamo.middlewareStack.add(
      (next) => async (args) => {
        const answer = await next(args);
        if (lost++ === 0)
          throw Object.assign(new Error('reset'), { code: 'ECONNRESET', $retryable: {} });
        return answer;
      },
      { step: 'finalizeRequest', priority: 'low', name: 'lose' },
    );
    const answer = await own?.take([ask('common', 1, 6)], none);
    process?.dynamo.middlewareStack.remove('lose');
    expect(lost).toBe(2);
    const other = await line.take([ask('common', 1, 6)], none);
    const count = (from: typeof answer) => from?.state.counts.get('common/1') ?? 0;
    expect(lanesOf(layout, 'common', 6, count(answer))).toEqual([36, 37, 38, 39, 40, 41]);
    expect(lanesOf(layout, 'common', 6, count(other))).toEqual([42, 43, 44, 45, 46, 47]);
  });

  test('of frames that are over are removed, fifty counts at a time', async () => {
    const { line, name } = newLine();
    const old = Object.fromEntries(
      Array.from({ length: 70 }, (_, frame) => [`common/${frame}`, 5]),
    );
    await engines.dynamo.send(
      new PutCommand({ TableName: table.name, Item: { ...lineKey(name), ...old } }),
    );
    const outdated = [...Object.keys(old), 'common/999'];
    const { state } = await line.take([ask('common', 100, 1)], { outdated });
    expect(state.counts.size).toBe(21);
    const after = await line.take([ask('common', 100, 1)], {
      outdated: [...state.counts.keys()].filter((key) => key !== 'common/100'),
    });
    expect([...after.state.counts]).toEqual([['common/100', 2]]);
  });

  test('that processes could use are counted with those that they ask for, in the same write', async () => {
    const { line, others } = newLine();
    const wanted = [{ mode: 'bulk', frame: 7, lanes: 9 } as const];
    await others[0]?.take([ask('common', 7, 5)], { outdated: [], wanted });
    const { state } = await line.take([ask('common', 7, 1), ask('common', 8, 1)], {
      outdated: [],
      interactiveAt: 1000,
      wanted: [...wanted, { mode: 'interactive', frame: 8, lanes: 2 }],
    });
    expect(Object.fromEntries(state.counts)).toEqual({
      'common/7': 6,
      'common/8': 1,
      'wanted-bulk/7': 18,
      'wanted-interactive/8': 2,
    });
    // Nothing of an ask whose condition fails is said.
    const refused = await line.take([ask('interactive', 7, 1)], {
      outdated: [],
      unlessInteractiveSince: 1000,
      wanted,
    });
    expect(refused).toEqual({ taken: false, state });
  });

  test('of the share are taken on condition that nobody watches', async () => {
    const { line } = newLine();
    const asks = [ask('common', 3, 2), ask('interactive', 3, 2)];
    const note = { outdated: [], unlessInteractiveSince: 1000 };
    expect(await line.take(asks, note)).toMatchObject({ taken: true });
    await line.take([ask('interactive', 3, 1)], { outdated: [], interactiveAt: 999 });
    expect(await line.take(asks, note)).toMatchObject({ taken: true });
    await line.take([ask('interactive', 3, 1)], { outdated: [], interactiveAt: 1000 });
    const refused = await line.take(asks, note);
    // What it says is what there is, so that one answer is enough.
    expect(refused).toEqual({ taken: false, state: await line.read() });
    expect(refused.state.interactiveAt).toBe(1000);
    expect([...refused.state.counts]).toEqual(
      expect.arrayContaining([
        ['common/3', 4],
        ['interactive/3', 6],
      ]),
    );
  });
});

describe('the state', () => {
  test('of a line that nobody used says nothing', async () => {
    expect(await newLine().line.read()).toEqual(NOTHING_KNOWN);
  });

  test('keeps the latest time that anybody says, whoever is last', async () => {
    const { line, others } = newLine();
    for (const until of [500, 900, 700])
      await Promise.all([
        line.quiet(until),
        line.yield(until * 2),
        ...others.map((one) => one.quiet(until - 1)),
      ]);
    expect(await line.read()).toMatchObject({ quietUntil: 900, yieldUntil: 1800 });
  });

  test('is cut once by many that are refused at the same time, and again by who is later', async () => {
    const { line, others } = newLine();
    await Promise.all(others.map((one, index) => one.cut(0.5 + index / 100, 10_000, 8000)));
    const { cut } = await line.read();
    expect(cut?.at).toBe(10_000);
    await line.cut(0.9, 11_000, 10_000);
    expect((await line.read()).cut).toEqual(cut);
    await line.cut(0.4, 12_001, 10_001);
    expect((await line.read()).cut).toEqual({ to: 0.4, at: 12_001 });
  });

  test('that cannot be written is no success', async () => {
    const gone = openLine({ client: engines.dynamo, name: 'not-there' }, 'shared');
    await expect(gone.take([ask('common', 1, 1)], none)).rejects.toThrow();
    await expect(gone.quiet(5)).rejects.toThrow();
    await expect(gone.cut(0.5, 2, 1)).rejects.toThrow();
    await expect(gone.read()).rejects.toThrow();
  });

  test('is one item: each of these is one call', async () => {
    const { others } = newLine();
    const [process] = processes;
    const [line] = others;
    const before = process?.calls.length ?? 0;
    await line?.take([ask('common', 1, 1)], none);
    await line?.quiet(5);
    await line?.quiet(4);
    await line?.yield(5);
    await line?.cut(0.5, 2, 1);
    await line?.read();
    expect(process?.calls.slice(before)).toEqual([
      ...Array<string>(5).fill('UpdateItem'),
      'GetItem',
    ]);
  });

  test('is that of the line in memory, whatever is done to both', async () => {
    const pools = fc.constantFrom<Pool>('interactive', 'common');
    const times = fc.integer({ min: 1, max: 5 });
    const optional = fc.option(times, { nil: undefined });
    const operations = fc.oneof(
      fc.record({
        kind: fc.constant('take' as const),
        asks: fc.uniqueArray(fc.record({ pool: pools, frame: times, lanes: times }), {
          minLength: 1,
          maxLength: 3,
          selector: ({ pool, frame }) => `${pool}/${frame}`,
        }),
        wanted: fc.uniqueArray(
          fc.record({
            mode: fc.constantFrom<Mode>('interactive', 'bulk'),
            frame: times,
            lanes: times,
          }),
          { maxLength: 2, selector: ({ mode, frame }) => `${mode}/${frame}` },
        ),
        interactiveAt: optional,
        since: optional,
        // Of other frames than those that are asked for.
        outdated: fc.subarray(['common/0', 'interactive/0', 'common/6']),
      }),
      fc.record({ kind: fc.constantFrom('quiet' as const, 'yield' as const), until: times }),
      fc.record({ kind: fc.constant('cut' as const), to: times, at: times, since: times }),
    );
    type Operation = typeof operations extends fc.Arbitrary<infer Value> ? Value : never;
    const apply = async (line: Line, operation: Operation) => {
      if (operation.kind === 'cut')
        return await line.cut(operation.to / 10, operation.at, operation.since);
      if (operation.kind !== 'take') return await line[operation.kind](operation.until);
      const { asks, wanted, interactiveAt, since, outdated } = operation;
      return await line.take(asks, {
        outdated,
        wanted,
        ...(interactiveAt === undefined ? {} : { interactiveAt }),
        ...(since === undefined ? {} : { unlessInteractiveSince: since }),
      });
    };
    await fc.assert(
      fc.asyncProperty(fc.array(operations, { minLength: 1, maxLength: 12 }), async (all) => {
        const { line } = newLine();
        const solo = createSoloLine();
        for (const operation of all)
          expect(await apply(line, operation)).toEqual(await apply(solo, operation));
        expect(await line.read()).toEqual(await solo.read());
      }),
      { numRuns: 25 },
    );
  });
});

describe('usage', () => {
  const NOW = 1_800_000_007_400;
  const AT = 1_800_000_000;

  test('is added up by all processes of a mode, in items of ten seconds', async () => {
    const one = {
      ...NO_USAGE,
      calls: 2,
      refused: 1,
      inputTokens: 100,
      serviceMs: 800.4,
      processes: 1,
    };
    await Promise.all(
      processes.map(({ dynamo }) =>
        addUsage({ client: dynamo, name: table.name }, 'bulk', one, NOW),
      ),
    );
    await addUsage(table, 'bulk', { ...NO_USAGE, calls: 1, outputTokens: 7 }, NOW + 10_000);
    await addUsage(table, 'interactive', one, NOW);
    expect(await readUsage(table, 'bulk', { from: AT, to: AT + 10 })).toEqual([
      {
        ...NO_USAGE,
        at: AT,
        calls: 8,
        refused: 4,
        inputTokens: 400,
        serviceMs: 3200,
        processes: 4,
      },
      { ...NO_USAGE, at: AT + 10, calls: 1, outputTokens: 7 },
    ]);
    expect(await readUsage(table, 'bulk', { from: AT, to: AT + 9 })).toHaveLength(1);
    expect(await readUsage(table, 'interactive', { from: AT, to: AT })).toHaveLength(1);
    expect(await readUsage(table, 'interactive', { from: AT + 1, to: AT + 1000 })).toEqual([]);
  });

  test('is kept for a day, and nothing is written where there was none', async () => {
    await addUsage(table, 'bulk', { ...NO_USAGE, calls: 1 }, NOW + 60_000);
    await addUsage(table, 'bulk', NO_USAGE, NOW + 70_000);
    const item = async (at: number) =>
      (
        await engines.dynamo.send(
          new GetCommand({ TableName: table.name, Key: { line: 'usage/bulk', at } }),
        )
      ).Item;
    expect(await item(AT + 60)).toEqual({
      line: 'usage/bulk',
      at: AT + 60,
      calls: 1,
      ttl: AT + 60 + 86_400,
    });
    expect(await item(AT + 70)).toBeUndefined();
  });

  test('is read to its end, also where it is more than an answer holds', async () => {
    // A megabyte is an answer.
    const filler = 'x'.repeat(350_000);
    const items = [0, 10, 20, 30].map((at) => ({
      line: 'usage/interactive',
      at,
      calls: 1,
      filler,
    }));
    for (const Item of items)
      await engines.dynamo.send(new PutCommand({ TableName: table.name, Item }));
    const read = await readUsage(table, 'interactive', { from: 0, to: 100 });
    expect(read.map(({ at }) => at)).toEqual([0, 10, 20, 30]);
  });
});
