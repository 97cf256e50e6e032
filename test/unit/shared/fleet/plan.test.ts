import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allowanceSettingsSchema } from '../../../../shared/fleet/allowance-settings.ts';
import { lineOf, MODES } from '../../../../shared/fleet/numbers.ts';
import { planFleet } from '../../../../shared/fleet/plan.ts';
import { type PlanInput, planInputSchema } from '../../../../shared/fleet/plan-input.ts';
import { PLAN_INPUT as INPUT } from '../../../plan-input.ts';

const changed = (changes: Partial<PlanInput>): PlanInput => ({ ...INPUT, ...changes });
const findingsOf = (input: PlanInput) =>
  planFleet(input).checks.filter(({ state }) => state !== 'ok');
const figureOf = (input: PlanInput, name: string) =>
  planFleet(input).figures.find((figure) => figure.name === name);

describe('from what is measured to the numbers', () => {
  test('5,000 requests a minute at 0.8 s are 134 in flight: four interactive and nine bulk workers', () => {
    const plan = planFleet(INPUT);
    expect(plan).toMatchObject({
      fleetBound: 134,
      interactive: { bound: 40, processes: 4, gate: 10, connections: 10, visibilitySeconds: 720 },
      bulk: { bound: 94, processes: 9, gate: 10, connections: 10, batchRows: 200 },
    });
    expect(plan.lines).toHaveLength(1);
    expect(lineOf(plan, 'bulk')).toMatchObject({ decidedBy: 'requests', inFlight: 130 });
    expect(lineOf(plan, 'bulk').needed).toBeCloseTo(66.67);
    expect(lineOf(plan, 'interactive').allowance).toEqual({
      line: 'shared',
      requestsPerMinute: 5000,
      tokensPerMinute: 2_000_000,
      interactiveShare: 0.3,
      frameSeconds: 3,
      reserve: 0.1,
    });
    expect(plan.checks.map(({ state }) => state)).toEqual(plan.checks.map(() => 'ok'));
  });

  test('the tighter of requests and tokens decides, and says so', () => {
    const long = changed({ measured: { serviceSeconds: 0.8, tokensPerCall: 800 } });
    expect(lineOf(planFleet(long), 'bulk')).toMatchObject({ decidedBy: 'tokens' });
    expect(lineOf(planFleet(long), 'bulk').callsPerSecond).toBeCloseTo(2500 / 60);
    expect(figureOf(long, 'rate')?.reason).toBe(
      '2,000,000 tokens a minute ÷ 800 a call are 2,500 calls, fewer than the 5,000 requests a minute',
    );
    const uncounted = changed({ account: { requestsPerMinute: 5000, tokensPerMinute: null } });
    expect(lineOf(planFleet(uncounted), 'bulk').decidedBy).toBe('requests');
    expect(figureOf(uncounted, 'rate')?.reason).toBe('5,000 requests a minute');
  });

  test('an account that needs less than two processes a mode gets these, with one call each', () => {
    const small = changed({ account: { requestsPerMinute: 10, tokensPerMinute: 40_000 } });
    expect(planFleet(small)).toMatchObject({
      fleetBound: 4,
      interactive: { processes: 2, gate: 1 },
      bulk: { processes: 2, gate: 1 },
    });
    expect(lineOf(planFleet(small), 'bulk').allowance.frameSeconds).toBe(8);
    expect(figureOf(small, 'fleet bound')?.reason).toContain('two processes a mode');
  });

  test('the frame says what it means for whoever comes, and a long one is noted', () => {
    expect(figureOf(INPUT, 'frame')).toMatchObject({
      value: 3,
      reason: expect.stringMatching(/a frame is taken waits for the next, 3 s at most$/),
    });
    const small = changed({ account: { requestsPerMinute: 300, tokensPerMinute: null } });
    const noted = (input: PlanInput) =>
      findingsOf(input).find(({ name }) => name === 'shared: who begins soon has a first call');
    expect(noted(small)).toMatchObject({
      state: 'note',
      says: 'an import that begins while others have all of the account waits for the next frame, up to 8 s, for its first call: so it is with a small account',
      path: 'summaries.account.requestsPerMinute',
    });
    const many = changed({
      interactive: { batchChunks: 1, gate: 2 },
      bulk: { batchChunks: 4, gate: 4 },
    });
    expect(noted(many)?.says).toMatch(/wider gates \(summaries\.bulk\.gate\) make frames shorter$/);
    expect(noted(INPUT)).toBeUndefined();
  });

  test('the gate is lowered where two workers of ten calls would be too many', () => {
    const less = changed({ account: { requestsPerMinute: 1000, tokensPerMinute: null } });
    expect(planFleet(less)).toMatchObject({
      fleetBound: 27,
      interactive: { bound: 8, processes: 2, gate: 4 },
      bulk: { bound: 19, processes: 2, gate: 9 },
    });
  });

  test('a gate is no wider than the rows that an invocation has', () => {
    const narrow = changed({ chunkRows: 4 });
    expect(planFleet(narrow).interactive).toMatchObject({ processes: 10, gate: 4, batchRows: 4 });
  });

  test('modes with an account of their own are lines of their own, each with all of its account', () => {
    const own = {
      account: { requestsPerMinute: 600, tokensPerMinute: null },
      measured: { serviceSeconds: 2, tokensPerCall: 400 },
    };
    const plan = planFleet(changed({ interactive: { batchChunks: 1, own } }));
    expect(plan.lines.map(({ line, bound, modes }) => [line, bound, modes])).toEqual([
      ['interactive', 40, ['interactive']],
      ['bulk', 134, ['bulk']],
    ]);
    expect(plan).toMatchObject({
      fleetBound: 174,
      interactive: { processes: 4, gate: 10, batchSeconds: 10 },
      bulk: { processes: 13, gate: 10, batchSeconds: 16 },
    });
    expect(lineOf(plan, 'interactive').allowance).toMatchObject({
      line: 'interactive',
      requestsPerMinute: 600,
      interactiveShare: 0,
    });
    expect(lineOf(plan, 'bulk').allowance).toMatchObject({ line: 'bulk', interactiveShare: 0 });
  });
});

describe('a configured number goes before the planned one', () => {
  test('the processes follow from a gate, and the gate from processes', () => {
    expect(planFleet(changed({ bulk: { batchChunks: 4, gate: 35 } })).bulk).toMatchObject({
      gate: 35,
      processes: 2,
      connections: 35,
    });
    expect(planFleet(changed({ bulk: { batchChunks: 4, concurrency: 30 } })).bulk).toMatchObject({
      gate: 3,
      processes: 30,
    });
  });

  test('what one mode does not take, bulk gets; interactive keeps to its share', () => {
    const few = changed({ interactive: { batchChunks: 1, concurrency: 2, gate: 5 } });
    expect(planFleet(few)).toMatchObject({ interactive: { bound: 10 }, bulk: { bound: 124 } });
    const fewBulk = changed({ bulk: { batchChunks: 4, concurrency: 2, gate: 5 } });
    expect(planFleet(fewBulk)).toMatchObject({ interactive: { bound: 40 }, bulk: { bound: 10 } });
    const most = changed({ bulk: { batchChunks: 4, concurrency: 12, gate: 10 } });
    expect(planFleet(most)).toMatchObject({ interactive: { bound: 14 }, bulk: { bound: 120 } });
  });

  test('what is past the fleet bound is an error that names the headroom which would allow it', () => {
    const wide = changed({ bulk: { batchChunks: 4, concurrency: 10, gate: 20 } });
    const [error] = findingsOf(wide);
    expect(error).toEqual({
      name: 'shared: calls in flight stay below the fleet bound',
      state: 'error',
      says: 'expected at most 134 calls in flight on the shared account (processes × gate), got 2 × 1 + 10 × 20: lower it, or raise summaries.headroom to 3.03 if a sweep has shown that so many complete more',
      path: 'summaries.bulk.gate',
    });
    expect(findingsOf({ ...wide, headroom: 3.03 })).toEqual([]);
  });
});

describe('a relation that does not hold is named, with what to change', () => {
  test.each<[string, Partial<PlanInput>, 'error' | 'note', string, RegExp]>([
    [
      'a batch that its worker cannot end',
      { measured: { serviceSeconds: 4, tokensPerCall: 350 } },
      'error',
      'summaries.bulk.batchChunks',
      /^expected a batch that ends within half of workerTimeoutSeconds \(120\), got 4 × 50 rows through a gate of 10, which take 80 s at 4 s a call: take fewer chunks, or raise summaries\.workerTimeoutSeconds$/,
    ],
    [
      'a call that may last longer than half of its worker',
      { callTimeoutSeconds: 61 },
      'error',
      'summaries.callTimeoutSeconds',
      /^expected at most half of workerTimeoutSeconds \(120\), .*, got 61$/,
    ],
    [
      'calls that are given up before they end',
      { callTimeoutSeconds: 1, measured: { serviceSeconds: 1, tokensPerCall: 350 } },
      'error',
      'summaries.measured.serviceSeconds',
      /^expected less than callTimeoutSeconds \(1\), got 1: raise summaries\.callTimeoutSeconds/,
    ],
    [
      'calls of which many are given up',
      { callTimeoutSeconds: 1 },
      'note',
      'summaries.measured.serviceSeconds',
      /on average after 0\.8 s, given up after 1 s: those that take twice as long are lost$/,
    ],
    [
      'a call that is larger than a minute',
      { account: { requestsPerMinute: 5000, tokensPerMinute: 300 } },
      'error',
      'summaries.account.tokensPerMinute',
      /^expected at least the tokens of one call \(350\), got 300/,
    ],
    [
      'a row that may be larger than a minute',
      { account: { requestsPerMinute: 5000, tokensPerMinute: 10_000 } },
      'note',
      'summaries.prompt.maxInputCharacters',
      /12,000 tokens, more than the 10,000 of a minute/,
    ],
    [
      'bulk work that alone cannot use the account',
      { interactiveShare: 0.5 },
      'note',
      'summaries.headroom',
      /^expected 84 calls in flight or more, 1\.25 times the 66\.67 that 83\.33 calls\/s take on average, because a slot of the account that meets a full gate is lost, got 66: raise summaries\.headroom to 2\.62, or lower summaries\.interactiveShare$/,
    ],
    [
      'a fleet that cannot use the account',
      { bulk: { batchChunks: 4, concurrency: 2, gate: 10 } },
      'note',
      'summaries.headroom',
      /^expected 67 calls in flight or more, to use all 83\.33 calls\/s, got 60, which are 75: the ceiling is the limit/,
    ],
    [
      'rows that an account cannot let through in a worker’s time',
      { account: { requestsPerMinute: 60, tokensPerMinute: null } },
      'note',
      'summaries.bulk.batchChunks',
      /^200 rows take 800 s if all processes work, longer than the 120 s of the worker: what is left is handed back about 6 times/,
    ],
    [
      'a gate that is never full',
      { interactive: { batchChunks: 1, gate: 15 }, chunkRows: 10 },
      'note',
      'summaries.interactive.batchChunks',
      /^expected 15 rows or more in an invocation, as its gate lets through at once, got 10/,
    ],
    [
      'more workers than AWS lets anybody reserve',
      { accountConcurrency: 131 },
      'error',
      'concurrency.account',
      /^expected 132 or more, as 32 \(4 interactive, 9 bulk, 19 others\) are reserved and AWS keeps 100 from it, got 131: raise the quota/,
    ],
    [
      'more workers than a new account runs, where nothing is reserved',
      { accountConcurrency: 10, reserved: false },
      'note',
      'concurrency.account',
      /^expected 32 or more, .*, got 10: beyond it they are throttled/,
    ],
  ])('%s', (_, changes, state, path, says) => {
    expect(findingsOf(changed(changes))).toContainEqual(
      expect.objectContaining({ state, path, says: expect.stringMatching(says) }),
    );
  });

  test('bulk has a quarter more than calls take on average, or it is told what would do', () => {
    const says = 'bulk: alone it can use all of the account';
    const stateOf = (input: PlanInput) =>
      planFleet(input).checks.find(({ name }) => name === says)?.state;
    // Of 66.67 on average, 83.3 have to be there.
    expect(stateOf(changed({ bulk: { batchChunks: 4, concurrency: 12, gate: 7 } }))).toBe('ok');
    expect(stateOf(changed({ bulk: { batchChunks: 4, concurrency: 4, gate: 20 } }))).toBe('note');
    expect(stateOf(changed({ headroom: 1.5 }))).toBe('note');
    // 4.17 would be enough if processes and gates came in parts: of 132 in flight, 13 × 10 are not.
    const odd = changed({
      account: { requestsPerMinute: 6300, tokensPerMinute: null },
      measured: { serviceSeconds: 1, tokensPerCall: 350 },
      interactiveShare: 0.7,
    });
    expect(stateOf({ ...odd, headroom: 4.17 })).toBe('note');
    const [, asked] = /headroom to ([\d.]+)/.exec(findingsOf(odd)[0]?.says ?? '') ?? [];
    expect(stateOf({ ...odd, headroom: Number(asked) })).toBe('ok');
  });

  test('an account of its own is named by its own path', () => {
    const own = {
      account: { requestsPerMinute: 60, tokensPerMinute: 100 },
      measured: { serviceSeconds: 40, tokensPerCall: 400 },
    };
    const paths = findingsOf(changed({ bulk: { batchChunks: 1, own } })).map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'summaries.bulk.provider.account.tokensPerMinute',
        'summaries.bulk.provider.measured.serviceSeconds',
      ]),
    );
  });

  test('each number has its reason', () => {
    for (const { name, value, unit, reason } of planFleet(INPUT).figures) {
      expect({ name, value }).toEqual({ name, value: expect.any(Number) });
      expect(unit).not.toBe('');
      expect(reason).toMatch(/\S{3}/);
      expect(reason).not.toMatch(/undefined|NaN/);
    }
  });
});

/** From 1 to `most`, as often small as large. */
const amount = (least: number, most: number) =>
  fc
    .double({ min: Math.log(least), max: Math.log(most), noNaN: true })
    .map((power) => Math.min(most, Math.max(least, Math.exp(power))));
const whole = (least: number, most: number) => amount(least, most).map(Math.round);

const account = fc.record({
  requestsPerMinute: whole(1, 1_000_000),
  tokensPerMinute: fc.option(whole(10_000, 1_000_000_000)),
});
const measured = fc.record({
  serviceSeconds: amount(0.05, 60),
  tokensPerCall: amount(20, 10_000),
});
const mode = (isConfigured: boolean) =>
  fc.record(
    {
      batchChunks: fc.integer({ min: 1, max: 10 }),
      own: fc.record({ account, measured }),
      ...(isConfigured ? { concurrency: whole(2, 1000), gate: whole(1, 1000) } : {}),
    },
    { requiredKeys: ['batchChunks'] },
  );
const inputs = (isConfigured: boolean): fc.Arbitrary<PlanInput> =>
  fc.record({
    account,
    measured,
    headroom: fc.double({ min: 1, max: 10, noNaN: true }),
    interactiveShare: fc.double({ min: 0, max: 0.9, noNaN: true }),
    reserve: fc.double({ min: 0, max: 0.5, noNaN: true }),
    callTimeoutSeconds: fc.integer({ min: 1, max: 300 }),
    chunkRows: whole(1, 1000),
    workerTimeoutSeconds: fc.integer({ min: 10, max: 900 }),
    largestCallTokens: whole(500, 200_000),
    accountConcurrency: whole(10, 10_000),
    othersConcurrency: fc.integer({ min: 0, max: 100 }),
    reserved: fc.boolean(),
    interactive: mode(isConfigured),
    bulk: mode(isConfigured),
  });

describe('for any account', () => {
  test('what is planned keeps to the fleet bound, whoever runs', () => {
    fc.assert(
      fc.property(inputs(false), (input) => {
        const { lines, fleetBound, ...modes } = planFleet(input);
        const sum = MODES.reduce((all, each) => all + modes[each].processes * modes[each].gate, 0);
        expect(sum).toBeLessThanOrEqual(fleetBound);
        for (const { inFlight, bound, needed } of lines) {
          expect(inFlight).toBeLessThanOrEqual(bound);
          expect(bound).toBeGreaterThanOrEqual(needed - 1e-6);
        }
      }),
    );
  });

  test.each([
    ['planned', false],
    ['configured', true],
  ])('every relation of %s numbers holds, or is named', (_, isConfigured) => {
    fc.assert(
      fc.property(inputs(isConfigured), (input) => {
        expect(planInputSchema.parse(input)).toEqual(input);
        const plan = planFleet(input);
        const stateOf = (name: string) => plan.checks.find((check) => check.name === name)?.state;
        const holdsOrIs = (name: string, holds: boolean, state: 'note' | 'error') =>
          expect(stateOf(name), name).toBe(holds ? 'ok' : state);

        for (const {
          line,
          inFlight,
          bound,
          needed,
          allowance,
          callsPerSecond,
          processes,
        } of plan.lines) {
          holdsOrIs(
            `${line}: calls in flight stay below the fleet bound`,
            inFlight <= bound,
            'error',
          );
          holdsOrIs(`${line}: the fleet can use all of the account`, inFlight >= needed, 'note');
          if (line === 'shared') {
            const { processes: workers, gate } = plan.bulk;
            holdsOrIs(
              'bulk: alone it can use all of the account',
              workers * gate >= needed * 1.25,
              'note',
            );
          }
          expect(allowanceSettingsSchema.parse(allowance)).toEqual(allowance);
          const block = (callsPerSecond * allowance.frameSeconds) / processes;
          if (allowance.frameSeconds < 8) expect(block).toBeGreaterThanOrEqual(15 - 1e-6);
        }
        let workers = input.othersConcurrency;
        for (const each of MODES) {
          const { gate, processes, connections, batchChunks, visibilitySeconds } = plan[each];
          expect(processes).toBeGreaterThanOrEqual(2);
          expect(processes).toBeLessThanOrEqual(1000);
          expect(gate).toBeGreaterThanOrEqual(1);
          expect(connections).toBeGreaterThanOrEqual(gate);
          expect(visibilitySeconds).toBeGreaterThanOrEqual(6 * input.workerTimeoutSeconds);
          workers += processes;
          const rows = batchChunks * input.chunkRows;
          const { serviceSeconds } = input[each].own?.measured ?? input.measured;
          holdsOrIs(
            `${each}: a batch ends well inside the worker's timeout`,
            2 * Math.ceil(rows / gate) * serviceSeconds <= input.workerTimeoutSeconds,
            'error',
          );
          holdsOrIs(`${each}: a batch fills its gate`, gate <= rows, 'note');
        }
        holdsOrIs(
          'a slow call can end and be made once more',
          2 * input.callTimeoutSeconds <= input.workerTimeoutSeconds,
          'error',
        );
        holdsOrIs(
          "all functions fit the AWS account's concurrency",
          workers <= input.accountConcurrency - (input.reserved ? 100 : 0),
          input.reserved ? 'error' : 'note',
        );
        for (const { says, state, path } of plan.checks) {
          expect(says).not.toMatch(/undefined|NaN|Infinity|\n|\.$/);
          expect(path).toMatch(/^(summaries|concurrency)\.\w/);
          if (state === 'error') expect(says).toMatch(/^expected .*, got /);
        }
      }),
    );
  });

  test('the headroom that a finding asks for is enough', () => {
    const asked = /raise summaries\.headroom to ([\d.]+)/;
    fc.assert(
      fc.property(inputs(true), (input) => {
        for (const { name, says } of findingsOf(input)) {
          const [, headroom] = asked.exec(says) ?? [];
          if (headroom === undefined) continue;
          const after = planFleet({ ...input, headroom: Number(headroom) });
          expect(after.checks.find((check) => check.name === name)?.state).toBe('ok');
        }
      }),
    );
  });
});
