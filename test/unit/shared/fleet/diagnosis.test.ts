import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diagnose } from '../../../../shared/fleet/diagnose-line.ts';
import { DIAGNOSES, mostPressing } from '../../../../shared/fleet/diagnosis.ts';
import type { LineFacts, ModeFacts } from '../../../../shared/fleet/line-facts.ts';
import { figuresAt, type Rates } from '../../../../shared/fleet/measure.ts';

/** The last whole item has just become one. */
const NOW = 1_800_000_003_000;
const END = 1_800_000_000;

interface Changes {
  rates?: Partial<Omit<Rates, 'waiting'>>;
  waiting?: Partial<Rates['waiting']>;
  queue?: Partial<ModeFacts['queue']>;
  /** Where the last seconds were not as the minute. */
  lately?: Partial<Rates>;
  run?: ModeFacts['run'];
}

/** A mode of ten processes with a gate of ten, and chunks of 50 rows. It works for long. */
function mode(name: 'interactive' | 'bulk', changes: Changes = {}): ModeFacts {
  const { rates, waiting, queue, lately } = changes;
  const inFlight = rates?.inFlight ?? 0;
  const calls = rates?.callsPerSecond ?? 0;
  const measured: Rates = {
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
  };
  const run = calls > 0 ? { began: END - 300, ended: END } : undefined;
  return {
    mode: name,
    gate: 10,
    processes: 10,
    chunkRows: 50,
    queue: { depth: 0, inFlight: 0, ...queue },
    rates: measured,
    lately: { ...measured, ...lately },
    run: 'run' in changes ? changes.run : run,
  };
}

const CALM = { quietUntil: 0, yieldUntil: 0, cut: undefined, interactiveAt: 0 };

/** An account of 6,000 requests, 100 a second, and 600,000 tokens, 10,000 a second. */
function facts(bulk: Changes = {}, others: Partial<LineFacts> = {}): LineFacts {
  return {
    account: { requestsPerMinute: 6000, tokensPerMinute: 600_000 },
    callsPerSecond: 100,
    interactiveShare: 0.3,
    frameSeconds: 4,
    serviceSeconds: 0.8,
    modes: [
      mode('interactive', { rates: { seconds: bulk.rates?.seconds ?? 60 } }),
      mode('bulk', bulk),
    ],
    state: CALM,
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

  describe('the share of those who watch is said to be kept', () => {
    const bulk = { queue: WAITING, rates: { callsPerSecond: 69, inFlight: 55 } };
    const wordsWith = (interactive: Changes, interactiveAt = 0) =>
      diagnose(
        facts(bulk, {
          modes: [mode('interactive', interactive), mode('bulk', bulk)],
          state: { ...CALM, interactiveAt },
        }),
      ).words;

    test.each<[string, Changes]>([
      ['calls are made', { rates: { callsPerSecond: 1, inFlight: 1 } }],
      ['a chunk waits', { queue: { depth: 1 } }],
    ])('while %s for an import that somebody watches', (_, interactive) => {
      expect(wordsWith(interactive)).toMatch(/is kept for the imports that somebody watches\. /);
    });

    test('a moment after, as being of then', () => {
      // Two frames of four seconds are less than ten, and the last item is ten seconds long.
      const since = (seconds: number) => wordsWith({}, END * 1000 - seconds * 1000);
      expect(since(20)).toMatch(/that somebody watches, as somebody did a moment ago\. /);
      expect(since(20.001)).not.toContain('watches');
    });

    test('and not for messages of killed workers, which stay hidden, or for nothing at all', () => {
      expect(wordsWith({ queue: { inFlight: 3 } })).not.toContain('watches');
      expect(wordsWith({})).not.toContain('watches');
    });
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
    const state = { ...CALM, quietUntil: NOW + 11_200 };
    expect(diagnose(facts({ queue: WAITING }, { state }))).toMatchObject({
      code: 'refused',
      words: 'The provider refused calls for their rate. Nobody calls for another 12 s.',
    });
  });

  test('a provider that says nothing is felt for', () => {
    const state = { ...CALM, cut: { to: 0.64, at: NOW - 5000 } };
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
    const state = { ...CALM, yieldUntil: NOW + 3000 };
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
    const state = { ...CALM, yieldUntil: NOW + 3000 };
    expect(diagnose(facts({}, { state })).code).toBe('idle');
  });
});

describe('places are all taken by calls:', () => {
  const backlog = { queue: WAITING, waiting: { gate: 500 } };

  test('ceiling: in all processes, and the account has more', () => {
    const rates = { callsPerSecond: 80, inFlight: 96, processes: 10 };
    const told = diagnose(facts({ ...backlog, rates }, { serviceSeconds: 1.2 }));
    expect(told).toMatchObject({
      code: 'ceiling',
      words:
        'All processes are full: 96 of 100 calls are in flight, and only 80 of 100 calls a second are made, each of 1.2 s. The account has more.',
    });
    expect(told.help).toEqual([expect.stringContaining('headroom')]);
  });

  test('slow: so they are, because calls take longer than the plan takes them to', () => {
    const rates = { callsPerSecond: 60, inFlight: 96, processes: 10 };
    const told = diagnose(facts({ ...backlog, rates }));
    expect(told.code).toBe('slow');
    expect(told.words).toMatch(/^Calls take 1\.6 s, and the plan takes them to take 0\.8 s\. All /);
    expect(told.help[0]).toContain('configure the measured 1.6 s');
  });

  test('ceiling: interactive work alone has no more than its part', () => {
    const rates = { callsPerSecond: 80, inFlight: 90, processes: 10 };
    const modes = [mode('interactive', { ...backlog, rates }), mode('bulk')];
    const others = { modes, serviceSeconds: 1.1 };
    const told = diagnose(facts({}, others));
    expect(told.code).toBe('ceiling');
    expect(told.help[0]).toMatch(/^Raise the share of interactive work, .* 100 of 200 places\.$/);
    expect(diagnose(facts({ ...backlog, rates }, { serviceSeconds: 1.1 })).help).toHaveLength(1);
    const [alone = mode('interactive')] = modes;
    expect(diagnose(facts({}, { ...others, modes: [alone] })).help).toHaveLength(1);
  });

  test('ceiling: so are those of one mode alone', () => {
    const bulk = { ...backlog, rates: { callsPerSecond: 60, inFlight: 90, processes: 10 } };
    const interactive = { queue: { inFlight: 1 }, rates: { callsPerSecond: 2, inFlight: 3 } };
    const modes = [mode('interactive', interactive), mode('bulk', bulk)];
    const others = { modes, interactiveShare: 0, serviceSeconds: 1.5 };
    expect(diagnose(facts(bulk, others))).toMatchObject({
      code: 'ceiling',
      words: expect.stringMatching(/^All processes of bulk work are full: 90 of 100 calls/),
    });
  });

  test('slow: so they are by rows whose turn in the account came when all places were taken', () => {
    const rates = { callsPerSecond: 65, inFlight: 71.5, processes: 10 };
    const waiting = { gate: 500, allowance: 24 };
    const told = diagnose(facts({ queue: WAITING, rates, waiting }));
    expect(told.code).toBe('slow');
    expect(told.words).toContain(
      '71.5 of 100 calls are in flight, 24 rows wait in places for their turn in the account, and only 65',
    );
    // With the time that was planned the places are enough, and it is something else.
    const fast = { ...rates, inFlight: 52 };
    const more = { ...waiting, allowance: 40 };
    expect(diagnose(facts({ queue: WAITING, rates: fast, waiting: more })).code).toBe('inside');
  });

  test('rows that the other mode has left do not fill the places of the one that works', () => {
    const rates = { callsPerSecond: 65, inFlight: 71.5, processes: 10 };
    const left = mode('interactive', { waiting: { allowance: 24 } });
    const works = mode('bulk', { queue: WAITING, rates });
    expect(diagnose(facts({}, { modes: [left, works] })).code).not.toBe('slow');
    expect(diagnose(facts({}, { modes: [left, works] })).code).not.toBe('ceiling');
  });

  test('gate: in the processes that run, and others might', () => {
    const rates = { callsPerSecond: 35, inFlight: 28, processes: 3 };
    const few = { rates, waiting: { gate: 500 } };
    const told = diagnose(facts({ ...few, queue: { depth: 0, inFlight: 12 } }));
    expect(told).toMatchObject({
      code: 'gate',
      words: expect.stringContaining('28 of 30 calls are in flight in 3 of 10 processes'),
    });
    expect(told.help[0]).toContain('chunks smaller');
    expect(diagnose(facts({ ...few, queue: WAITING })).help[0]).toContain('throttles');
  });
});

describe('producer: work is done as fast as it comes', () => {
  test('and nothing waits', () => {
    const bulk = { queue: { inFlight: 2 }, rates: { ...HALF, processes: 8 } };
    const told = diagnose(facts(bulk));
    expect(told).toMatchObject({
      code: 'producer',
      words: expect.stringMatching(/^Nothing waits: .* 40 of 100 calls in flight\.$/),
    });
    expect(told.help[0]).toContain('room for more imports');
  });

  test('if all that waits, in the queue and in processes, is done in seconds', () => {
    const rates = { callsPerSecond: 40, inFlight: 32, processes: 4 };
    const saidOf = (rows: number, depth = 0) =>
      diagnose(facts({ queue: { depth, inFlight: 8 }, rates, waiting: { gate: rows } }));
    expect(saidOf(353)).toMatchObject({
      code: 'producer',
      words: expect.stringContaining('what waits, 353 rows, takes 8.83 s'),
    });
    expect(saidOf(150, 4).words).toContain('what waits, 350 rows, takes 8.75 s');
    // A backlog is none of it, wherever it is.
    expect(saidOf(353, 2).code).not.toBe('producer');
    expect(saidOf(0, 9).code).not.toBe('producer');
  });

  test('no more rows wait in processes than their chunks have', () => {
    const rates = { callsPerSecond: 10, inFlight: 8, processes: 10 };
    const bulk = { queue: { inFlight: 1 }, rates, waiting: { gate: 300 } };
    expect(diagnose(facts(bulk)).words).toContain('what waits, 50 rows, takes 5 s');
  });

  test('and room for more is not promised where there is none', () => {
    const rates = { callsPerSecond: 70, inFlight: 85, processes: 10 };
    expect(diagnose(facts({ queue: { inFlight: 9 }, rates })).help).toEqual([
      'Nothing here is in the way.',
    ]);
  });

  test('is not what one says of calls that bring nothing', () => {
    const rates = { ...HALF, failedPerSecond: 50 };
    expect(diagnose(facts({ queue: { inFlight: 2 }, rates })).code).toBe('failing');
  });
});

describe('inside: there is work, and neither the account nor the bound is used;', () => {
  test.each([
    ['allowance', { allowance: 30, refused: 3 }, 'for the shared allowance: 30 at a time.'],
    [
      'allowance',
      { allowance: 30, gate: 400 },
      '400 at a time, behind rows that wait for the shared allowance, 30 at',
    ],
    [
      'refused',
      { allowance: 5, refused: 22.5, gate: 400 },
      'behind rows that wait after refusals and failures of the provider, 22.5',
    ],
    // Places are taken by calls.
    ['gate', { allowance: 5, gate: 400 }, 'for a free place in their process: 400 at a time.'],
  ])('rows wait for the %s most', (_wait, waiting, words) => {
    const told = diagnose(facts({ queue: WAITING, rates: HALF, waiting }));
    expect(told.code).toBe('inside');
    expect(told.help.length).toBeGreaterThan(0);
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

  test('or an import runs of which nothing waits', () => {
    const running = [{ mode: 'bulk', startedAt: NOW - 120_000 }] as const;
    expect(diagnose(facts({}, { imports: { running, paused: [] } }))).toMatchObject({
      code: 'inside',
      words: expect.stringMatching(/^An import runs, but none of its chunks waits/),
    });
  });
});

describe('stopped:', () => {
  const stopped = { name: 'Autumn', message: 'The quota is used up: raise it, then resume.' };
  const imports = { running: [], paused: ['Autumn'], stopped };

  test('an import is paused for what only somebody can change', () => {
    const told = diagnose(facts({ queue: WAITING }, { imports }));
    expect(told.code).toBe('stopped');
    expect(told.words).toContain('“Autumn”');
    expect(told.words).toContain(stopped.message);
    expect(told.help).toEqual(['Do what that says, then resume the import.']);
  });

  test('an import of somebody else is, too', () => {
    const theirs = { ...imports, paused: [undefined], stopped: { ...stopped, name: undefined } };
    const told = diagnose(facts({ queue: WAITING }, { imports: theirs }));
    expect(told.words).toBe(`An import is paused and no call succeeds. ${stopped.message}`);
    expect(told.help).toEqual(['Do what that says; then the import’s owner can resume it.']);
  });

  test('also with nothing else to do', () => {
    expect(diagnose(facts({}, { imports })).code).toBe('stopped');
  });

  test('is over once calls succeed again, though that import still rests', () => {
    const busy = { queue: { inFlight: 2 } };
    expect(diagnose(facts({ ...busy, rates: HALF }, { imports })).code).toBe('producer');
    const failing = { ...HALF, failedPerSecond: 50 };
    expect(diagnose(facts({ ...busy, rates: failing }, { imports })).code).toBe('stopped');
    // What succeeded before does not count, nor do the last calls of all.
    const lately = { callsPerSecond: 5, failedPerSecond: 5 };
    expect(diagnose(facts({ ...busy, rates: HALF, lately }, { imports })).code).toBe('stopped');
    expect(diagnose(facts({ rates: HALF }, { imports })).code).toBe('stopped');
  });
});

test('messages of killed workers, hidden for long after their rows are done, are no work', () => {
  const ghosts = { queue: { inFlight: 4 } };
  const over = { imports: { running: [], paused: [] } };
  expect(diagnose(facts(ghosts, over)).code).toBe('idle');
  const running = { running: [{ mode: 'bulk' as const, startedAt: NOW - 600_000 }], paused: [] };
  expect(diagnose(facts(ghosts, { imports: running })).code).toBe('inside');
  expect(diagnose(facts({ queue: { depth: 1 } }, over)).code).not.toBe('idle');
});

describe('a run that has just begun is starting, and nothing worse', () => {
  const NO_FIGURES = { seconds: 0 };
  const waiting = { queue: WAITING, rates: NO_FIGURES };
  const startedAgo = (ms: number) => ({
    running: [{ mode: 'bulk' as const, startedAt: NOW - ms }],
    paused: [],
  });

  test('it says when there are figures', () => {
    // In the item under way, whose end, and that of the next, and three seconds are to come.
    const run = { began: END, ended: END + 10 };
    expect(diagnose(facts({ ...waiting, run }))).toEqual({
      code: 'starting',
      words: 'Work has just begun: what limits it is known in about 20 s.',
      help: [],
    });
    const earlier = { began: END - 10, ended: END };
    expect(diagnose(facts({ ...waiting, run: earlier })).words).toContain('in about 10 s.');
  });

  test('before its first call is seen, as long as processes may take to start', () => {
    const silent = { queue: WAITING };
    const told = (ms: number) => diagnose(facts(silent, { imports: startedAgo(ms) }));
    expect(told(1000).words).toBe('Work has just begun: what limits it is known in about 20 s.');
    expect(told(30_000)).toMatchObject({
      code: 'starting',
      words: 'Work has just begun, and no call was made yet: processes start.',
    });
    expect(told(35_000).code).toBe('inside');
    // That one of the other mode was started is no excuse.
    const other = { running: [{ mode: 'interactive' as const, startedAt: NOW }], paused: [] };
    expect(diagnose(facts(silent, { imports: other })).code).toBe('starting');
    const modes = [mode('interactive', { rates: HALF }), mode('bulk', silent)];
    expect(diagnose(facts({}, { modes, imports: other })).code).toBe('inside');
  });

  test('with a small account it says how long a first call may wait', () => {
    const run = { began: END, ended: END + 10 };
    const told = diagnose(facts({ ...waiting, run }, { frameSeconds: 16 }));
    expect(told.words).toContain('a first call may wait 16 s for its turn.');
  });

  test('also where the other mode has worked for long, and only while it would be an alarm', () => {
    const interactive = mode('interactive', {
      rates: { callsPerSecond: 5, inFlight: 4, processes: 3 },
    });
    const run = { began: END, ended: END + 10 };
    const begun = mode('bulk', { queue: WAITING, run });
    expect(diagnose(facts({}, { modes: [interactive, begun] })).code).toBe('starting');
    const older = mode('bulk', { queue: WAITING, run: { began: END - 30, ended: END } });
    expect(diagnose(facts({}, { modes: [interactive, older] })).code).toBe('inside');
    const full = { callsPerSecond: 90, inFlight: 80 };
    const used = mode('bulk', { queue: WAITING, run, rates: full });
    expect(diagnose(facts({}, { modes: [interactive, used] })).code).toBe('quota');
  });

  test('what the provider says is evidence from the first moment', () => {
    const run = { began: END, ended: END + 10 };
    const quiet = { ...CALM, quietUntil: NOW + 5000 };
    expect(diagnose(facts({ ...waiting, run }, { state: quiet })).code).toBe('refused');
    const rests = { ...CALM, yieldUntil: NOW + 5000 };
    expect(diagnose(facts({ ...waiting, run }, { state: rests }))).toMatchObject({
      code: 'yielding',
      words: expect.stringMatching(/not Glimpse that uses it\. It rests for another 5 s\.$/),
    });
  });
});

describe('an alarm is for what goes on:', () => {
  const low = { callsPerSecond: 40, inFlight: 32, processes: 10 };

  test('a minute that was low, and seconds that are not, are none', () => {
    const now = { callsPerSecond: 97, inFlight: 78 };
    expect(diagnose(facts({ queue: WAITING, rates: low, lately: now })).code).toBe('quota');
    expect(diagnose(facts({ queue: WAITING, rates: low })).code).toBe('inside');
  });

  test('seconds that are low after a good minute are none either', () => {
    const used = { callsPerSecond: 97, inFlight: 78, processes: 10 };
    expect(diagnose(facts({ queue: WAITING, rates: used, lately: low })).code).toBe('quota');
  });
});

describe('a fleet that has nothing to do says why:', () => {
  const over = { rates: HALF, lately: { callsPerSecond: 0, inFlight: 0 } };
  const ended = (ago: number) => ({ began: END - 60, ended: END - ago });

  test('all is done, though the minute still has calls', () => {
    expect(diagnose(facts({ ...over, run: ended(20) }))).toEqual({
      code: 'idle',
      words: 'All work is done: nothing waits, and the last calls ended 20 s ago or more.',
      help: [],
    });
  });

  test('as soon as no import runs, whatever the last item still has', () => {
    const imports = { running: [], paused: [] };
    const bulk = { rates: HALF, run: ended(0) };
    expect(diagnose(facts(bulk, { imports }))).toMatchObject({
      code: 'idle',
      words: 'All work is done: nothing waits, and the last calls ended just now.',
    });
    const running = [{ mode: 'bulk', startedAt: NOW - 60_000 }] as const;
    expect(diagnose(facts(bulk, { imports: { running, paused: [] } })).code).toBe('producer');
  });

  test('an import is paused', () => {
    const told = (...paused: (string | undefined)[]) =>
      diagnose(facts({}, { imports: { running: [], paused } }));
    expect(told('Autumn')).toEqual({
      code: 'idle',
      words: 'Nothing waits: the import “Autumn” has yet to be started or resumed.',
      help: ['Start or resume it, and its rows are summarised.'],
    });
    expect(told('Autumn', 'Spring', 'May').words).toContain(
      'the import “Autumn” and 2 more of the newest imports have yet to be started or resumed.',
    );
    expect(told(undefined, 'Autumn').words).toContain(
      'the import “Autumn” and 1 more of the newest imports have yet to be started or resumed.',
    );
  });

  test('an import of somebody else is paused', () => {
    const told = (...paused: undefined[]) =>
      diagnose(facts({}, { imports: { running: [], paused } }));
    expect(told(undefined)).toEqual({
      code: 'idle',
      words: 'Nothing waits: an import has yet to be started or resumed, by its owner.',
      help: [],
    });
    expect(told(undefined, undefined).words).toBe(
      'Nothing waits: 2 of the newest imports have yet to be started or resumed, by their owners.',
    );
  });
});

describe('interactive work first:', () => {
  const watched = mode('interactive', {
    queue: { depth: 2, inFlight: 4 },
    rates: { callsPerSecond: 60, inFlight: 48, processes: 6 },
  });

  test('bulk work has what interactive work leaves of an account that is used', () => {
    const bulk = mode('bulk', {
      queue: WAITING,
      rates: { callsPerSecond: 38, inFlight: 30, processes: 10 },
      waiting: { gate: 400, allowance: 60 },
    });
    expect(diagnose(facts({}, { modes: [watched, bulk] }))).toMatchObject({
      code: 'quota',
      words:
        "The account's requests are used: 98 of 100 a second (98 %). 42 chunks wait for it. Interactive work comes first, with 60 calls a second; bulk work has what that leaves, 38.",
    });
  });

  test('its share is kept a little longer than it has work', () => {
    const bulk = { queue: WAITING, rates: { callsPerSecond: 69, inFlight: 55, processes: 10 } };
    const at = (ago: number) => facts(bulk, { state: { ...CALM, interactiveAt: NOW - ago } });
    expect(diagnose(at(5000))).toMatchObject({
      code: 'quota',
      words: expect.stringContaining('somebody watches, as somebody did a moment ago.'),
    });
    // A part of the last item was so, too.
    expect(diagnose(at(22_000)).code).toBe('quota');
    expect(diagnose(at(24_000)).code).toBe('inside');
  });
});

test('an account of which a part is lost to turns that nobody took is used all the same', () => {
  const rates = { callsPerSecond: 80, inFlight: 64, processes: 10 };
  const told = (allowance: number) =>
    diagnose(facts({ queue: WAITING, rates, waiting: { allowance, gate: 300 } }));
  expect(told(20)).toMatchObject({
    code: 'quota',
    words: expect.stringMatching(
      /^The account's requests are all but used: 80 of 100 a second \(80 %\); the rest are turns/,
    ),
  });
  expect(told(5).code).not.toBe('quota');
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
        began: fc.integer({ min: 0, max: 60 }),
        lately: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
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
      .map(({ calls, refused, failed, service, ...given }): ModeFacts => {
        const rates = {
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
        };
        const scaled = (
          of:
            | 'callsPerSecond'
            | 'refusedPerSecond'
            | 'failedPerSecond'
            | 'tokensPerSecond'
            | 'inFlight',
        ) => rates[of] * given.lately;
        const end = END - 10 * (given.began % 3);
        return {
          mode: name,
          gate: given.gate,
          processes: given.processes,
          chunkRows: 50,
          queue: { depth: given.depth, inFlight: given.held },
          rates,
          lately: {
            ...rates,
            callsPerSecond: scaled('callsPerSecond'),
            refusedPerSecond: scaled('refusedPerSecond'),
            failedPerSecond: scaled('failedPerSecond'),
            tokensPerSecond: scaled('tokensPerSecond'),
            inFlight: scaled('inFlight'),
          },
          run: calls === 0 ? undefined : { began: end - 10 - 10 * given.began, ended: end },
        };
      });
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
      frameSeconds: fc.integer({ min: 2, max: 30 }),
      interactiveAt: until,
      running: fc.array(
        fc.record({
          mode: fc.constantFrom('interactive' as const, 'bulk' as const),
          startedAt: fc.integer({ min: NOW - 100_000, max: NOW }),
        }),
        { maxLength: 2 },
      ),
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
      stopped: seldom<{ name: string; message: string } | undefined>(
        undefined,
        fc.constant({ name: 'Autumn', message: 'The key is refused.' }),
      ),
      isLookedAt: fc.boolean(),
    })
    .map(
      ({ quietUntil, yieldUntil, cut, interactiveAt, stopped, running, isLookedAt, ...rest }) => ({
        ...rest,
        state: { quietUntil, yieldUntil, cut, interactiveAt },
        now: NOW,
        ...(isLookedAt ? { imports: { running, paused: [], stopped } } : {}),
      }),
    );

  const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);
  const totals = ({ modes: all, account }: LineFacts, from: 'rates' | 'lately' = 'rates') => {
    const modes = all.map((each) => ({ ...each, rates: each[from] }));
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
      isQueued: of(({ queue }) => queue.depth + queue.inFlight) > 0,
      /** Rows. */
      backlog: sum(
        busy.map(({ queue, chunkRows, rates: { waiting } }) => {
          const inside = sum(Object.values(waiting));
          return queue.depth * chunkRows + Math.min(inside, queue.inFlight * chunkRows);
        }),
      ),
      taken: sum(busy.map(({ rates }) => rates.inFlight + rates.waiting.allowance)),
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
        expect(help.length === 0).toBe(code === 'idle' || code === 'starting');
        const minute = totals(given);
        const views = [minute, totals(given, 'lately')];
        const { calls, bad, isQueued, backlog } = minute;
        const { imports } = given;
        const isOver = !isQueued && imports?.running.length === 0;
        const succeeds = given.modes.some(
          ({ lately: { callsPerSecond, refusedPerSecond, failedPerSecond } }) =>
            callsPerSecond - refusedPerSecond - failedPerSecond > 0,
        );
        expect(code === 'stopped').toBe(imports?.stopped !== undefined && (isOver || !succeeds));
        if (code === 'idle') {
          expect(given.modes.some(({ queue }) => queue.depth > 0)).toBe(false);
          // What is hidden then is left over from workers that were killed.
          if (isQueued) expect([imports?.running.length, views[1]?.calls]).toEqual([0, 0]);
        }
        if (code === 'producer') {
          expect(views.some((view) => view.backlog <= 10 * (view.calls - view.bad) + 1)).toBe(true);
        }
        if (code === 'ceiling' || code === 'slow') {
          expect(minute.busy.some(isFull) || minute.taken >= 0.8 * minute.bound).toBe(true);
        }
        if (code === 'yielding') {
          expect(minute.busy.some(({ mode }) => mode === 'bulk')).toBe(true);
        }
        // An alarm holds for the minute and for its last seconds.
        if (['ceiling', 'gate', 'inside', 'slow', 'yielding'].includes(code)) {
          for (const { used } of views) expect(used).toBeLessThan(0.9);
        }
        if (code === 'inside') {
          expect(minute.busy.length > 0 && minute.busy.every(isFull)).toBe(false);
          expect(given.state.quietUntil).toBeLessThanOrEqual(NOW);
          expect(calls - bad > 0 && backlog <= 10 * (calls - bad) - 1).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('the numbers in the words are those measured and configured', () => {
    fc.assert(
      fc.property(lines, (given) => {
        const { words } = diagnose(given);
        const { account, modes, state, told, imports } = given;
        const namedBy = (from: 'rates' | 'lately') => {
          const { busy, calls, tokens, depth, bound, used, bad, backlog } = totals(given, from);
          const of = (read: (rates: Rates) => number) => sum(modes.map((each) => read(each[from])));
          const part = (of: number) => (calls === 0 ? 0 : of / calls);
          const bulk = busy.find(({ mode }) => mode === 'bulk')?.rates.callsPerSecond ?? 0;
          const amounts = [
            calls,
            tokens,
            depth,
            bound,
            bulk,
            busy.find(({ mode }) => mode === 'interactive')?.rates.callsPerSecond ?? 0,
            Math.round(backlog),
            Math.round(backlog) / (calls - bad),
            of(({ refusedPerSecond }) => refusedPerSecond),
            of(({ failedPerSecond }) => failedPerSecond),
            of(({ inFlight }) => inFlight),
            part(of(({ inFlight }) => inFlight)),
            ...(['gate', 'allowance', 'yield', 'refused'] as const).map((wait) =>
              of(({ waiting }) => waiting[wait]),
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
            sum(busy.map(({ rates }) => rates.waiting.allowance)),
          ];
          const parts = [(calls * 60) / account.requestsPerMinute, used, used * part(bulk)];
          return { amounts, parts };
        };
        const [minute, lately] = [namedBy('rates'), namedBy('lately')];
        const amounts = [
          ...minute.amounts,
          ...lately.amounts,
          given.callsPerSecond,
          given.serviceSeconds,
          given.frameSeconds,
          account.requestsPerMinute,
          account.requestsPerMinute / 60,
          ...(account.tokensPerMinute === null
            ? []
            : [account.tokensPerMinute, account.tokensPerMinute / 60]),
          told?.requests ?? 0,
          told?.tokens ?? 0,
          sum(modes.map(({ queue }) => queue.inFlight)),
        ];
        const parts = [
          ...minute.parts,
          ...lately.parts,
          1 - given.interactiveShare,
          state.cut?.to ?? 0,
        ];
        const begun = [
          ...modes.flatMap(({ run }) => (run === undefined ? [] : [run.began])),
          ...(imports?.running ?? []).map(({ startedAt }) => startedAt / 1000),
        ];
        const rests = [
          state.quietUntil - NOW,
          state.yieldUntil - NOW,
          ...begun.map((at) => figuresAt(at) - NOW),
          ...modes.map(({ run }) => (END - (run?.ended ?? 0)) * 1000),
        ];
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
