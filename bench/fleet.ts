// The fleet by the provider's own ledger: how much of an account is used and never more, beside what
// a team would use instead, in one run. Charts are written to docs/charts/.
//
//   npm run bench:fleet -- [rate|limiters|spiral|interactive|stranger …, default all]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawChart } from '../cli/chart.ts';
import type { Call } from '../local/provider/ledger.ts';
import { PEERS } from './fleet/limiters.ts';
import { type Fleet, type FleetOptions, seconds, withFleet } from './fleet/processes.ts';
import { secondBySecond, steady } from './fleet/second-by-second.ts';

const PER_MINUTE = 6000;
const WARM_UP = 12;
const CHARTS = join(import.meta.dirname, '../docs/charts');

const base: FleetOptions = {
  requestsPerMinute: PER_MINUTE,
  // A second's worth: whoever sends more in one is refused.
  burstSeconds: 1,
  processes: 20,
  gate: 8,
  frameSeconds: 3,
};

const scenarios = { rate, limiters, spiral, interactive, stranger };

async function main(): Promise<void> {
  const names = process.argv.slice(2);
  const unknown = names.find((name) => !(name in scenarios));
  if (unknown !== undefined) {
    throw new Error(`Expected ${Object.keys(scenarios).join(', ')}, got ${unknown}.`);
  }
  const chosen = names.length === 0 ? Object.keys(scenarios) : names;
  for (const [name, run] of Object.entries(scenarios)) if (chosen.includes(name)) await run();
}

/** The seconds that a run is measured over, after its processes have come to work. */
async function measured(length: number): Promise<{ from: number; to: number }> {
  await seconds(WARM_UP);
  const from = Math.ceil(Date.now() / 1000);
  await seconds(from + length + 2 - Date.now() / 1000);
  return { from, to: from + length };
}

const percent = (value: number) => `${(value * 100).toFixed(1)} %`;

function row(...cells: (string | number)[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

function header(title: string, ...cells: string[]): void {
  console.log(`\n${title}\n`);
  row(...cells);
  row(...cells.map((_, index) => (index === 0 ? '---' : '---:')));
}

/** What a run came to, as cells: used, refused, the fullest second, seconds above, store operations a call. */
async function cellsOf(fleet: Fleet, time: { from: number; to: number }) {
  const calls = await fleet.ledger();
  const { used, refused, answered, burst, secondsAbove } = steady(calls, {
    ...time,
    perMinute: PER_MINUTE,
  });
  const { done, storeOps } = fleet.sums();
  return [
    percent(used),
    `${refused} (${percent(refused / (answered + refused))})`,
    percent(burst),
    secondsAbove,
    Math.round((answered / (time.to - time.from)) * 60),
    (storeOps / done).toFixed(3),
  ];
}

const CELLS = [
  'of the account used',
  'refused',
  'fullest second',
  'seconds above',
  'answered a minute',
  'store operations a call',
];

async function rate(): Promise<void> {
  header(
    `20 processes, ${PER_MINUTE} requests a minute, ${base.gate} calls in flight each`,
    'ours',
    ...CELLS,
  );
  await withFleet(base, async (fleet) => {
    fleet.start({ limiter: 'ours' }, 20);
    await fleet.ready();
    row('all stay', ...(await cellsOf(fleet, await measured(40))));
  });
  await withFleet(base, async (fleet) => {
    fleet.start({ limiter: 'ours' }, 20);
    await fleet.ready();
    let over = false;
    const comingAndGoing = (async () => {
      for (let turn = 0; !over; turn++) {
        await seconds(3);
        const present = fleet.members().filter(({ alive }) => alive());
        const leaver = present[Math.floor(Math.random() * present.length)];
        // One ends as it should, the next is killed.
        if (turn % 2 === 0) void leaver?.leave();
        else leaver?.kill();
        fleet.start({ limiter: 'ours' }, 1);
      }
    })();
    row(
      'one leaves or is killed, and one joins, every 3 s',
      ...(await cellsOf(fleet, await measured(40))),
    );
    over = true;
    await comingAndGoing;
  });
  await withFleet(base, async (fleet) => {
    for (let index = 0; index < 20; index++) {
      fleet.start({ limiter: 'ours', skewMs: index % 2 === 0 ? -1000 : 1000 }, 1);
    }
    await fleet.ready();
    row('clocks 2 s apart', ...(await cellsOf(fleet, await measured(40))));
  });
}

async function limiters(): Promise<void> {
  header('The same account and processes behind each limiter', 'limiter', ...CELLS);
  for (const limiter of ['ours', ...PEERS] as const) {
    await withFleet(base, async (fleet) => {
      fleet.start({ limiter }, 20);
      await fleet.ready();
      // Over a minute's end: that is where windows of a minute show.
      row(limiter, ...(await cellsOf(fleet, await measured(66))));
    });
  }
}

/**
 * A backlog, and something that adds workers while there is one. The account is small enough that two cores can
 * run ten times the workers it feeds.
 */
async function spiral(): Promise<void> {
  const length = 90;
  const perMinute = 1200;
  const runs = [
    { name: 'no ceiling', color: '#c0392b', limiter: 'none', most: 40, gate: 4 },
    // As many calls in flight as come to three quarters of the account: more, and this spirals too.
    { name: 'a ceiling', color: '#e08e0b', limiter: 'none', most: 4, gate: 3 },
    { name: 'a ceiling and the allowance', color: '#1d7f5f', limiter: 'ours', most: 8, gate: 4 },
  ] as const;
  header(
    `A backlog, an account of ${perMinute} requests a minute, and two workers more every four seconds`,
    'fleet',
    'answered a minute at its best',
    'answered a minute at the end',
    'refused at the end',
    'workers',
  );
  const series = [];
  for (const { name, color, limiter, most, gate } of runs) {
    const points = await withFleet(
      { ...base, requestsPerMinute: perMinute, gate },
      async (fleet) => {
        // What is refused goes back to its queue, and the next worker has it at once.
        const impatient = limiter === 'none';
        const started = Math.floor(Date.now() / 1000);
        fleet.start({ limiter, impatient }, 2);
        while (Date.now() / 1000 < started + length) {
          await seconds(4);
          const room = most - fleet.members().length;
          fleet.start({ limiter, impatient }, Math.max(0, Math.min(2, room)));
        }
        const calls = await fleet.ledger();
        const ours = smooth(calls, started).filter(([at]) => at <= length);
        const end = steady(calls, { from: started + length - 20, to: started + length, perMinute });
        row(
          name,
          Math.max(...ours.map(([, answered]) => answered)),
          end.answered * 3,
          percent(end.refused / (end.refused + end.answered)),
          fleet.members().length,
        );
        return ours;
      },
    );
    series.push({ name, color, points });
  }
  save('spiral', {
    title: 'Answered calls while an autoscaler adds workers to a backlog',
    x: 'seconds since the start, two workers more every four',
    y: 'answered calls a minute',
    series,
    line: { name: 'the account', y: perMinute },
  });
}

/** Answered calls a minute, over five seconds each. */
function smooth(calls: readonly Call[], started: number): [number, number][] {
  const all = secondBySecond(calls).filter(({ at }) => at >= started);
  return all.map(({ at }, index) => {
    const last = all.slice(Math.max(0, index - 4), index + 1);
    const answered = last.reduce((sum, second) => sum + second.answered, 0);
    return [at - started, (answered / last.length) * 60];
  });
}

async function interactive(): Promise<void> {
  const rows = 300;
  header(
    `An import of ${rows} rows that somebody watches, in three processes of ${base.gate}, alone and while bulk fills the account`,
    'bulk processes',
    'p50 wait of a row',
    'p95 wait',
    'seconds',
    'refused, interactive',
    'refused, bulk',
  );
  for (const bulk of [0, 17]) {
    await withFleet(base, async (fleet) => {
      if (bulk > 0) {
        fleet.start({ limiter: 'ours' }, bulk);
        await fleet.ready();
        await seconds(WARM_UP);
      }
      const began = performance.now();
      const watched = fleet.start({ limiter: 'ours', mode: 'interactive', rows: rows / 3 }, 3);
      await Promise.all(watched.map(({ ended }) => ended));
      const took = (performance.now() - began) / 1000;
      const waits = watched.flatMap(({ report }) => report().waitMs).sort((a, b) => a - b);
      const at = (part: number) => `${waits[Math.floor(part * waits.length)] ?? 0} ms`;
      const calls = await fleet.ledger();
      const refused = (key: string) =>
        calls.filter(
          (call) => call.status === 429 && 'sk-interactive'.endsWith(call.key) === (key === 'i'),
        ).length;
      row(bulk, at(0.5), at(0.95), took.toFixed(1), refused('i'), refused('b'));
    });
  }
}

/** Somebody else calls with the same account: only the headers tell. */
async function stranger(): Promise<void> {
  const perSecond = 60;
  // A reserve of ten per cent of ten seconds' worth.
  await withFleet({ ...base, burstSeconds: 10 }, async (fleet) => {
    fleet.start({ limiter: 'ours' }, 20);
    await fleet.ready();
    await seconds(WARM_UP);
    const began = Math.floor(Date.now() / 1000);
    const other = fleet.stranger(perSecond);
    await seconds(40);
    other.stop();
    const ended = Math.floor(Date.now() / 1000);
    await seconds(15);
    const calls = await fleet.ledger();
    const ours = calls.filter(({ key }) => !'sk-else'.endsWith(key));
    const theirs = calls.filter(({ key }) => 'sk-else'.endsWith(key));
    const refused = (of: readonly Call[]) => of.filter(({ status }) => status === 429).length;
    const series = secondBySecond(ours);
    const gaveWay = series.find(({ at, begun }) => at > began && begun < (PER_MINUTE / 60) * 0.5);
    header(
      `Bulk fills the account, and somebody else begins to call ${perSecond} times a second`,
      'bulk gave way after',
      'refused, bulk',
      'refused, the other',
      'bulk a second meanwhile',
    );
    const during = series.filter(({ at }) => at >= began + 15 && at < ended);
    row(
      gaveWay === undefined ? 'never' : `${gaveWay.at - began} s`,
      `${refused(ours)} of ${ours.length}`,
      `${refused(theirs)} of ${theirs.length}`,
      (during.reduce((all, { begun }) => all + begun, 0) / during.length).toFixed(1),
    );
    save('stranger', {
      title: 'Bulk gives way to calls that only the headers tell of',
      x: 'seconds since the other began',
      y: 'calls a second',
      series: [
        {
          name: 'bulk',
          color: '#1d7f5f',
          points: series.map(({ at, begun }) => [at - began, begun]),
        },
        {
          name: 'somebody else',
          color: '#c0392b',
          points: secondBySecond(theirs).map(({ at, begun }) => [at - began, begun]),
        },
      ],
      line: { name: 'the account', y: PER_MINUTE / 60 },
    });
  });
}

function save(name: string, chart: Parameters<typeof drawChart>[0]): void {
  mkdirSync(CHARTS, { recursive: true });
  const path = join(CHARTS, `${name}.svg`);
  writeFileSync(path, drawChart(chart));
  console.log(`\nDrawn: ${path}`);
}

await main();
