import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DIAGNOSES,
  diagnose,
  type LineFacts,
  type ModeFacts,
  mostPressing,
} from '../../../../shared/fleet/diagnosis.ts';
import type { Rates } from '../../../../shared/fleet/measure.ts';

const NOW = 1_800_000_000_000;

interface Changes {
  rates?: Partial<Omit<Rates, 'waiting'>>;
  waiting?: Partial<Rates['waiting']>;
  queue?: Partial<ModeFacts['queue']>;
}

/** A mode of ten processes with a gate of ten. */
function mode(name: 'interactive' | 'bulk', changes: Changes = {}): ModeFacts {
  const { rates, waiting, queue } = changes;
  const inFlight = rates?.inFlight ?? 0;
  const calls = rates?.callsPerSecond ?? 0;
  return {
    mode: name,
    gate: 10,
    processes: 10,
    queue: { depth: 0, inFlight: 0, ...queue },
    rates: {
      seconds: 60,
      callsPerSecond: 0,
      refusedPerSecond: 0,
      failedPerSecond: 0,
      tokensPerSecond: 0,
      inFlight: 0,
      serviceSeconds: calls === 0 ? undefined : inFlight / calls,
      waiting: { gate: 0, allowance: 0, yield: 0, refused: 0, ...waiting },
      processes: 0,
      storeOpsPerCall: 0,
      ...rates,
    },
  };
}

/** An account of 6,000 requests, 100 a second, and 600,000 tokens, 10,000 a second. */
function facts(bulk: Changes = {}, others: Partial<LineFacts> = {}): LineFacts {
  return {
    account: { requestsPerMinute: 6000, tokensPerMinute: 600_000 },
    callsPerSecond: 100,
    interactiveShare: 0.3,
    serviceSeconds: 0.8,
    modes: [mode('interactive'), mode('bulk', bulk)],
    state: { quietUntil: 0, yieldUntil: 0, cut: undefined },
    now: NOW,
    ...others,
  };
}

const WAITING = { depth: 40, inFlight: 10 };
const HALF = { callsPerSecond: 50, inFlight: 40, processes: 10 };

test('without work the fleet is idle, and nobody needs to do anything', () => {
  expect(diagnose(facts())).toEqual({
    code: 'idle',
    words: 'There is nothing to do: no chunk waits.',
    help: [],
  });
});

describe('quota:', () => {
  test('the requests are used', () => {
    const told = diagnose(
      facts({ queue: WAITING, rates: { callsPerSecond: 98.5, inFlight: 78.8, processes: 10 } }),
    );
    expect(told).toMatchObject({
      code: 'quota',
      words: "The account's requests are used: 98.5 of 100 a second (99 %). 40 chunks wait for it.",
    });
    expect(told.help[0]).toContain('larger quota');
  });

  test('an account that is larger than it is configured helps more than a larger one', () => {
    const bulk = { queue: WAITING, rates: { callsPerSecond: 98.5, inFlight: 78.8 } };
    const helpWhen = (requests: number) => diagnose(facts(bulk, { told: { requests } })).help[0];
    expect(helpWhen(10_000)).toBe(
      "Configure the account with 10,000 requests a minute, as the provider's answers say, and deploy.",
    );
    expect(helpWhen(6000)).toContain('larger quota');
    const tokens = { callsPerSecond: 20, inFlight: 16, tokensPerSecond: 9876 };
    const told = { requests: 6000, tokens: 1_200_000 };
    expect(diagnose(facts({ queue: WAITING, rates: tokens }, { told })).help[0]).toContain(
      'with 1,200,000 tokens a minute',
    );
  });

  test('the tokens are used, and calls can be made smaller', () => {
    const told = diagnose(
      facts({ queue: WAITING, rates: { callsPerSecond: 20, inFlight: 16, tokensPerSecond: 9876 } }),
    );
    expect(told).toMatchObject({
      code: 'quota',
      words:
        "The account's tokens are used: 9,876 of 10,000 a second (99 %). 40 chunks wait for it.",
    });
    expect(told.help[0]).toContain('Make calls smaller');
  });

  test('bulk uses its part, while somebody watches an import', () => {
    const bulk = { queue: WAITING, rates: { callsPerSecond: 69, inFlight: 55 } };
    const idle = facts(bulk);
    const watched = facts(bulk, {
      modes: [
        mode('interactive', { queue: { inFlight: 1 }, rates: { callsPerSecond: 1, inFlight: 1 } }),
        mode('bulk', bulk),
      ],
    });
    expect(diagnose(watched)).toMatchObject({
      code: 'quota',
      words: expect.stringContaining('69 % of 70 %; the rest is kept'),
    });
    expect(diagnose(idle).code).not.toBe('quota');
  });

  test('an account that counts no tokens has none to use', () => {
    const account = { requestsPerMinute: 6000, tokensPerMinute: null };
    const rates = { ...HALF, tokensPerSecond: 1e9 };
    expect(diagnose(facts({ rates }, { account })).code).toBe('producer');
  });
});

describe('refused:', () => {
  const refusing = { queue: WAITING, rates: { ...HALF, refusedPerSecond: 2 } };

  test('somebody else uses the account, or it is smaller than it is said to be', () => {
    const told = diagnose(facts(refusing));
    expect(told).toMatchObject({
      code: 'refused',
      words: 'The provider refuses 2 of 50 calls a second for their rate.',
    });
    expect(told.help).toHaveLength(2);
    expect(told.help[1]).toContain('6,000 requests and 600,000 tokens a minute');
  });

  test("it is smaller, by the provider's own answers", () => {
    const told = diagnose(facts(refusing, { told: { requests: 3000 } }));
    expect(told.words).toContain(
      "configured for 6,000 requests a minute, and the provider's answers say 3,000.",
    );
    expect(told.help).toEqual(['Configure the account with 3,000 requests a minute, and deploy.']);
    const tokens = { requests: 6000, tokens: 200_000 };
    expect(diagnose(facts(refusing, { told: tokens })).words).toContain('say 200,000.');
  });

  test('nobody calls until the time that the provider named', () => {
    const state = { quietUntil: NOW + 11_200, yieldUntil: 0, cut: undefined };
    expect(diagnose(facts({ queue: WAITING }, { state }))).toMatchObject({
      code: 'refused',
      words: 'The provider refused calls for their rate. Nobody calls for another 12 s.',
    });
  });

  test('a provider that says nothing is felt for', () => {
    const state = { quietUntil: 0, yieldUntil: 0, cut: { to: 0.64, at: NOW - 5000 } };
    expect(diagnose(facts({ queue: WAITING, rates: HALF }, { state }))).toMatchObject({
      code: 'refused',
      words: expect.stringContaining('went down to 64 % of the account'),
    });
    const longAgo = { ...state, cut: { to: 0.64, at: NOW - 120_000 } };
    expect(diagnose(facts({ rates: HALF }, { state: longAgo })).code).toBe('producer');
  });

  test('one refusal in a thousand is nobody’s concern', () => {
    expect(diagnose(facts({ rates: { ...HALF, refusedPerSecond: 0.05 } })).code).toBe('producer');
  });
});

describe('yielding:', () => {
  test('bulk rests for callers that are not Glimpse’s', () => {
    const state = { quietUntil: 0, yieldUntil: NOW + 3000, cut: undefined };
    const bulk = { queue: WAITING, rates: HALF, waiting: { yield: 31.25, gate: 300 } };
    const told = diagnose(facts(bulk, { state }));
    expect(told.code).toBe('yielding');
    expect(told.words).toMatch(/31\.3 rows wait for that at a time\. It rests for another 3 s\.$/);
  });

  test('it did so most of the minute, and just does not', () => {
    const bulk = { queue: WAITING, rates: HALF, waiting: { yield: 30, allowance: 4, gate: 300 } };
    expect(diagnose(facts(bulk)).code).toBe('yielding');
  });

  test('is nobody’s concern without bulk work', () => {
    const state = { quietUntil: 0, yieldUntil: NOW + 3000, cut: undefined };
    expect(diagnose(facts({}, { state })).code).toBe('idle');
  });
});

describe('the bound is too low:', () => {
  test('ceiling: all processes are full, and the account has more', () => {
    const rates = { callsPerSecond: 60, inFlight: 96, processes: 10 };
    const told = diagnose(facts({ queue: WAITING, rates }));
    expect(told).toMatchObject({
      code: 'ceiling',
      words:
        'All processes are full: 96 of 100 calls are in flight, and only 60 of 100 calls a second are made, each of 1.6 s. The account has more.',
    });
    // Calls are slower than the plan has them.
    expect(told.help[0]).toContain('configure the measured 1.6 s');
    expect(told.help[1]).toContain('headroom');
  });

  test('ceiling: so are those of one mode alone', () => {
    const bulk = { queue: WAITING, rates: { callsPerSecond: 60, inFlight: 90, processes: 10 } };
    const interactive = { queue: { inFlight: 1 }, rates: { callsPerSecond: 2, inFlight: 3 } };
    const modes = [mode('interactive', interactive), mode('bulk', bulk)];
    expect(diagnose(facts(bulk, { modes, interactiveShare: 0 }))).toMatchObject({
      code: 'ceiling',
      words: expect.stringMatching(/^All processes of bulk work are full: 90 of 100 calls/),
    });
  });

  test('gate: the processes that run are full, and others might run', () => {
    const rates = { callsPerSecond: 35, inFlight: 28, processes: 3 };
    const told = diagnose(facts({ queue: { depth: 0, inFlight: 12 }, rates }));
    expect(told).toMatchObject({
      code: 'gate',
      words: expect.stringContaining('28 of 30 calls are in flight in 3 processes of 10'),
    });
    expect(told.help[0]).toContain('chunks smaller');
    expect(diagnose(facts({ queue: WAITING, rates })).help[0]).toContain('throttles');
  });
});

test('producer: nothing waits, and there is room', () => {
  const bulk = { queue: { inFlight: 2 }, rates: { ...HALF, processes: 8 } };
  expect(diagnose(facts(bulk))).toMatchObject({
    code: 'producer',
    words: expect.stringContaining('40 of 100 calls in flight'),
  });
});

describe('inside: there is work, and neither the account nor the bound is used;', () => {
  test.each([
    ['allowance', { allowance: 30, refused: 3, gate: 400 }, 'for the shared allowance: 30 at'],
    ['refused', { allowance: 5, refused: 22.5, gate: 400 }, 'of the provider: 22.5 at a time'],
    ['gate', { allowance: 0.5, gate: 400 }, 'for a free place in their process: 400 at'],
  ])('rows wait for the %s most', (_wait, waiting, words) => {
    const told = diagnose(facts({ queue: WAITING, rates: HALF, waiting }));
    expect(told.code).toBe('inside');
    expect(told.words).toContain(words);
    expect(told.words).toContain(
      '40 chunks wait, but 40 of 100 calls are in flight and 50 of 100 a second are made',
    );
  });

  test('or no process calls at all', () => {
    expect(diagnose(facts({ queue: { depth: 1, inFlight: 0 } }))).toMatchObject({
      code: 'inside',
      words: expect.stringMatching(/^1 chunk waits, but 0 of 100 .*nothing that is measured\.$/),
    });
    const held = diagnose(facts({ queue: { depth: 0, inFlight: 3 } }));
    expect(held).toMatchObject({ code: 'inside', words: expect.stringMatching(/^3 chunks are/) });
  });
});

describe('stopped:', () => {
  const stopped = { name: 'Autumn', message: 'The quota is used up: raise it, then resume.' };

  test('an import is paused for what only somebody can change', () => {
    const told = diagnose(facts({ queue: WAITING }, { stopped }));
    expect(told.code).toBe('stopped');
    expect(told.words).toContain('“Autumn”');
    expect(told.words).toContain(stopped.message);
  });

  test('also with nothing else to do', () => {
    expect(diagnose(facts({}, { stopped })).code).toBe('stopped');
  });

  test('is over once calls succeed again, though that import still rests', () => {
    expect(diagnose(facts({ rates: HALF }, { stopped })).code).toBe('producer');
    const failing = { ...HALF, failedPerSecond: 50 };
    expect(diagnose(facts({ rates: failing }, { stopped })).code).toBe('stopped');
  });
});

test('of several accounts, what stops work is told before what slows it', () => {
  const told = (code: (typeof DIAGNOSES)[number]) => ({ code, words: '', help: [] });
  expect(mostPressing([told('idle'), told('quota'), told('refused')])?.code).toBe('refused');
  expect(mostPressing([told('idle'), told('stopped')])?.code).toBe('stopped');
  expect(mostPressing([])).toBeUndefined();
});

describe('whatever is measured,', () => {
  const amount = (max: number) =>
    fc.oneof(fc.constant(0), fc.double({ min: 0.001, max, noNaN: true }));
  const modes = (name: 'interactive' | 'bulk') =>
    fc
      .record({
        gate: fc.integer({ min: 1, max: 50 }),
        processes: fc.integer({ min: 2, max: 200 }),
        depth: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 100_000 })),
        held: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1000 })),
        filled: fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 1.2, noNaN: true })),
        refused: fc.double({ min: 0, max: 1, noNaN: true }),
        failed: fc.double({ min: 0, max: 1, noNaN: true }),
        service: fc.double({ min: 0.05, max: 10, noNaN: true }),
        tokensPerCall: amount(5000),
        running: amount(200),
        waiting: fc.record({
          gate: amount(5000),
          allowance: amount(500),
          yield: amount(500),
          refused: amount(500),
        }),
      })
      .map(({ filled, refused, failed, service, ...given }) => ({
        calls: (filled * given.gate * given.processes) / service,
        refused,
        failed,
        service,
        ...given,
      }))
      .map(
        ({ calls, refused, failed, service, ...given }): ModeFacts => ({
          mode: name,
          gate: given.gate,
          processes: given.processes,
          queue: { depth: given.depth, inFlight: given.held },
          rates: {
            seconds: 60,
            callsPerSecond: calls,
            refusedPerSecond: refused < 0.7 ? 0 : calls * refused * 0.2,
            failedPerSecond: failed < 0.5 ? 0 : calls * failed * 0.2,
            tokensPerSecond: calls * given.tokensPerCall,
            inFlight: calls * service,
            serviceSeconds: calls === 0 ? undefined : service,
            waiting: given.waiting,
            processes: given.running,
            storeOpsPerCall: 0.05,
          },
        }),
      );
  const seldom = <T>(often: T, arbitrary: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 5, arbitrary: fc.constant(often) }, { weight: 1, arbitrary });
  const until = seldom(0, fc.integer({ min: NOW - 100_000, max: NOW + 3_600_000 }));
  const lines: fc.Arbitrary<LineFacts> = fc
    .record({
      account: fc.record({
        requestsPerMinute: fc.integer({ min: 1, max: 200_000 }),
        tokensPerMinute: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 200_000_000 })),
      }),
      callsPerSecond: fc.double({ min: 0.01, max: 300, noNaN: true }),
      interactiveShare: fc.double({ min: 0, max: 0.9, noNaN: true }),
      serviceSeconds: fc.double({ min: 0.01, max: 10, noNaN: true }),
      modes: fc.oneof(
        fc.tuple(modes('interactive'), modes('bulk')),
        fc.tuple(modes('interactive')),
        fc.tuple(modes('bulk')),
      ),
      quietUntil: until,
      yieldUntil: until,
      cut: seldom<LineFacts['state']['cut']>(
        undefined,
        fc.record({ to: fc.double({ min: 0.02, max: 1, noNaN: true }), at: until }),
      ),
      told: fc.record({
        requests: fc.integer({ min: 1, max: 200_000 }),
        tokens: fc.integer({ min: 1, max: 200_000_000 }),
      }),
      stopped: seldom<NonNullable<LineFacts['stopped']> | undefined>(
        undefined,
        fc.constant({ name: 'Autumn', message: 'The key is refused.' }),
      ),
    })
    .map(({ quietUntil, yieldUntil, cut, stopped, ...rest }) => ({
      ...rest,
      state: { quietUntil, yieldUntil, cut },
      now: NOW,
      ...(stopped === undefined ? {} : { stopped }),
    }));

  const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);
  const totals = ({ modes, account }: LineFacts) => {
    const of = (read: (each: ModeFacts) => number) => sum(modes.map(read));
    const busy = modes.filter(
      ({ queue, rates }) => queue.depth > 0 || queue.inFlight > 0 || rates.callsPerSecond > 0,
    );
    const calls = of(({ rates }) => rates.callsPerSecond);
    const tokens = of(({ rates }) => rates.tokensPerSecond);
    return {
      busy,
      calls,
      tokens,
      bad: of(({ rates }) => rates.refusedPerSecond + rates.failedPerSecond),
      depth: of(({ queue }) => queue.depth),
      used: Math.max(
        (calls * 60) / account.requestsPerMinute,
        account.tokensPerMinute === null ? 0 : (tokens * 60) / account.tokensPerMinute,
      ),
      bound: sum(busy.map(({ gate, processes }) => gate * processes)),
    };
  };

  const isFull = ({ gate, processes, rates }: ModeFacts) =>
    rates.inFlight > 0 && rates.inFlight >= 0.8 * gate * processes;

  test('there is exactly one diagnosis, in whole sentences, and what it says is so', () => {
    fc.assert(
      fc.property(lines, (given) => {
        const { code, words, help } = diagnose(given);
        expect(DIAGNOSES.filter((each) => each === code)).toHaveLength(1);
        for (const each of [words, ...help]) {
          expect(each).toMatch(/^[A-Z\d].*\.$/);
          expect(each).not.toMatch(/NaN|Infinity|undefined|null/);
        }
        expect(help.length === 0).toBe(code === 'idle');
        const { busy, calls, bad, depth, used } = totals(given);
        const stopped = given.stopped !== undefined && calls - bad <= 0;
        expect(code === 'stopped').toBe(stopped);
        if (!stopped) expect(code === 'idle').toBe(busy.length === 0);
        if (code === 'producer') expect(depth).toBe(0);
        if (code === 'ceiling') expect(busy.some(isFull)).toBe(true);
        if (code === 'yielding') expect(busy.some(({ mode }) => mode === 'bulk')).toBe(true);
        if (['ceiling', 'gate', 'inside', 'producer', 'yielding'].includes(code)) {
          expect(used).toBeLessThan(0.9);
        }
        if (code === 'inside') {
          expect(busy.every(isFull)).toBe(false);
          expect(given.state.quietUntil).toBeLessThanOrEqual(NOW);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('the numbers in the words are those measured and configured', () => {
    fc.assert(
      fc.property(lines, (given) => {
        const { words } = diagnose(given);
        const { busy, calls, tokens, depth, bound, used } = totals(given);
        const { account, modes, state, told } = given;
        const part = (of: number) => (calls === 0 ? 0 : of / calls);
        const amounts = [
          calls,
          tokens,
          depth,
          bound,
          given.callsPerSecond,
          given.serviceSeconds,
          account.requestsPerMinute,
          account.requestsPerMinute / 60,
          ...(account.tokensPerMinute === null
            ? []
            : [account.tokensPerMinute, account.tokensPerMinute / 60]),
          told?.requests ?? 0,
          told?.tokens ?? 0,
          sum(modes.map(({ rates }) => rates.refusedPerSecond)),
          sum(modes.map(({ rates }) => rates.inFlight)),
          sum(modes.map(({ queue }) => queue.inFlight)),
          part(sum(modes.map(({ rates }) => rates.inFlight))),
          ...(['gate', 'allowance', 'yield', 'refused'] as const).map((wait) =>
            sum(modes.map(({ rates }) => rates.waiting[wait])),
          ),
          ...busy.flatMap(({ gate, processes, queue, rates }) => [
            processes,
            gate * processes,
            queue.depth,
            rates.inFlight,
            rates.processes,
            gate * rates.processes,
            rates.waiting.yield,
          ]),
        ];
        const bulkCalls = busy.find(({ mode }) => mode === 'bulk')?.rates.callsPerSecond ?? 0;
        const parts = [
          (calls * 60) / account.requestsPerMinute,
          used,
          used * part(bulkCalls),
          1 - given.interactiveShare,
          state.cut?.to ?? 0,
        ];
        const rests = [state.quietUntil - NOW, state.yieldUntil - NOW];
        for (const [, text = '', unit] of words.matchAll(/(\d[\d,]*(?:\.\d+)?)( %| s\b)?/g)) {
          const value = Number(text.replaceAll(',', ''));
          const isAmount = amounts.some((each) => Math.abs(each - value) <= 0.0051 * each + 1e-9);
          const isPart = parts.some((each) => Math.abs(each * 100 - value) <= 0.5 + 1e-6);
          const isRest = rests.some((ms) => Math.ceil(ms / 1000) === value);
          expect({
            words,
            value,
            known: unit === ' %' ? isPart : isAmount || (unit === ' s' && isRest),
          }).toMatchObject({ known: true });
        }
      }),
      { numRuns: 500 },
    );
  });
});
