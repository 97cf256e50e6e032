// A day of traffic in simulated time: people watch imports by day, bulk work fills what they leave and
// the night. The allowance, its lanes and its waits are the real ones; time, the provider and the
// store's answers are simulated, and workers, gates and frames are those of the plan for such an account.
// Draws docs/charts/day.svg.
//
//   npm run bench:day -- [hours=24] [requests a minute=1200]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { config } from '../cdk/config.ts';
import { readConfig } from '../cdk/config-schema.ts';
import { planInputOf } from '../cdk/plan-input.ts';
import { drawChart } from '../cli/chart.ts';
import { createAllowance } from '../shared/fleet/allowance.ts';
import type { Mode } from '../shared/fleet/allowance-settings.ts';
import { slotsIn } from '../shared/fleet/lanes.ts';
import type { Line } from '../shared/fleet/line.ts';
import { lineOf, type ModePlan } from '../shared/fleet/numbers.ts';
import { planFleet } from '../shared/fleet/plan.ts';
import { createSoloLine } from '../shared/fleet/solo-line.ts';
import { createVirtualTime } from '../test/virtual-time.ts';

const HOURS = Number(process.argv[2] ?? 24);
const REQUESTS = Number(process.argv[3] ?? 1200);
const MIDNIGHT = Date.UTC(2026, 0, 5);
const HOUR = 3_600_000;
const SERVICE_MS = 800;
const TOKENS = 600;
const { summaries } = config;
const input = planInputOf(
  readConfig({
    ...config,
    summaries: {
      ...summaries,
      account: { requestsPerMinute: REQUESTS, tokensPerMinute: null },
      measured: { serviceSeconds: SERVICE_MS / 1000, tokensPerCall: TOKENS },
    },
  }),
);
const plan = planFleet(input);
const settings = lineOf(plan, 'bulk').allowance;
/** Rows that imports bring in an hour which somebody watches, as a part of what the account has in one. */
const WATCHED = [
  0, 0, 0, 0, 0, 0.01, 0.04, 0.11, 0.28, 0.5, 0.61, 0.5, 0.28, 0.44, 0.61, 0.67, 0.5, 0.28, 0.14,
  0.08, 0.04, 0.02, 0, 0,
];
const IMPORT_ROWS = 150;

const time = createVirtualTime(MIDNIGHT);
let storeOps = 0;
const solo = createSoloLine();
const line: Line = {
  ...solo,
  async take(asks, note) {
    storeOps += 1;
    await time.sleep(5);
    return await solo.take(asks, note);
  },
};

// Seeded, so that a day is the same each time.
let seed = 42;
function random(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
}

/** Calls that began in each second of the day, by mode. */
const begun = {
  interactive: new Uint16Array(HOURS * 3600),
  bulk: new Uint16Array(HOURS * 3600),
};
/** How long rows that somebody watched waited for the allowance, in tenths of a second. */
const waits: number[] = [];

function note(mode: Mode, at: number, waitMs: number): void {
  const second = Math.floor((at - MIDNIGHT) / 1000);
  begun[mode][second] = (begun[mode][second] ?? 0) + 1;
  if (mode === 'interactive') {
    const tenths = Math.floor(waitMs / 100);
    waits[tenths] = (waits[tenths] ?? 0) + 1;
  }
}

/** Processes of one mode, and the rows they take from one queue. */
function startMode(mode: Mode, processes: number, gate: number, take: () => boolean): void {
  for (let process = 0; process < processes; process++) {
    const allowance = createAllowance({
      settings,
      mode,
      line,
      time: { now: time.now, heard: () => {}, askIn: () => undefined },
      sleep: (ms, signal) => time.sleep(ms, signal),
      random,
      onStoreError: (error) => {
        throw error;
      },
    });
    for (let place = 0; place < gate; place++) void work(allowance, mode, take);
  }
}

async function work(
  allowance: ReturnType<typeof createAllowance>,
  mode: Mode,
  take: () => boolean,
): Promise<void> {
  while (true) {
    if (!take()) {
      await time.sleep(1000);
      continue;
    }
    const asked = time.now();
    const admission = await allowance.admit({
      tokens: TOKENS,
      withinMs: 24 * HOUR,
      wanted: () => true,
    });
    if (admission.kind === 'left') continue;
    note(mode, time.now(), time.now() - asked);
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    await time.sleep(SERVICE_MS * Math.exp(0.35 * normal - 0.35 ** 2 / 2));
    admission.settle(TOKENS);
  }
}

let toDo = 0;
startMode('interactive', plan.interactive.processes, plan.interactive.gate, () => {
  if (toDo === 0) return false;
  toDo -= 1;
  return true;
});
// There is always bulk work: a catalogue of millions.
startMode('bulk', plan.bulk.processes, plan.bulk.gate, () => true);
void (async () => {
  while (true) {
    const hour = Math.floor((time.now() - MIDNIGHT) / HOUR) % 24;
    const rows = (WATCHED[hour] ?? 0) * REQUESTS * 60;
    if (rows === 0) await time.sleep(HOUR / 6);
    else {
      // Imports come at random.
      await time.sleep((-Math.log(1 - random()) * HOUR * IMPORT_ROWS) / rows);
      toDo += IMPORT_ROWS;
    }
  }
})();

const started = performance.now();
for (let hour = 1; hour <= HOURS; hour++) {
  await time.pass(MIDNIGHT + hour * HOUR);
  if (process.stderr.isTTY) process.stderr.write(`\r${hour} of ${HOURS} hours simulated`);
}
if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');

const STEP_SECONDS = 900;
const sumOf = (mode: Mode, from: number, to: number) =>
  begun[mode].subarray(from, to).reduce((sum, calls) => sum + calls, 0);
const steps = Array.from({ length: (HOURS * 3600) / STEP_SECONDS }, (_, index) => {
  const from = index * STEP_SECONDS;
  const of = (mode: Mode) => sumOf(mode, from, from + STEP_SECONDS) / (STEP_SECONDS / 60);
  return { hour: (index + 1) / 4, interactive: of('interactive'), bulk: of('bulk') };
});
const watched = sumOf('interactive', 0, HOURS * 3600);
const calls = watched + sumOf('bulk', 0, HOURS * 3600);
let above = 0;
for (let second = 0; second < HOURS * 3600; second++) {
  const both = (begun.interactive[second] ?? 0) + (begun.bulk[second] ?? 0);
  if (both > slotsIn(MIDNIGHT / 1000 + second, REQUESTS)) above += 1;
}
/** Of the account, in hours in which so much of it is asked for by those who watch. */
function usedIn(isMeant: (part: number) => boolean): string {
  const hours = Array.from({ length: HOURS }, (_, hour) => hour).filter((hour) =>
    isMeant(WATCHED[hour % 24] ?? 0),
  );
  const used = hours.reduce(
    (sum, hour) =>
      sum +
      sumOf('interactive', hour * 3600, (hour + 1) * 3600) +
      sumOf('bulk', hour * 3600, (hour + 1) * 3600),
    0,
  );
  return `${((used / (hours.length * REQUESTS * 60)) * 100).toFixed(1)} % (${hours.length} hours)`;
}
function waitAt(part: number): string {
  let left = watched * part;
  const tenths = waits.findIndex((count = 0) => {
    left -= count;
    return left < 0;
  });
  return (tenths / 10).toFixed(1);
}
const { interactiveShare, frameSeconds } = settings;
const workers = ({ processes, gate }: ModePlan) => `${processes} × ${gate}`;
console.log(
  `${REQUESTS.toLocaleString('en')} requests a minute: ${workers(plan.interactive)} interactive, ${workers(plan.bulk)} bulk, frames of ${frameSeconds} s\n`,
);
console.log(`| ${HOURS} hours | |\n|---|---:|`);
console.log(`| of the account used | ${((calls / (REQUESTS * 60 * HOURS)) * 100).toFixed(1)} % |`);
console.log(`| … while nobody watches | ${usedIn((part) => part === 0)} |`);
console.log(
  `| … while less is watched than the share of ${interactiveShare} | ${usedIn((part) => part > 0 && part < interactiveShare)} |`,
);
console.log(`| … while more is | ${usedIn((part) => part >= interactiveShare)} |`);
console.log(`| rows that somebody watched | ${watched.toLocaleString('en')} |`);
console.log(`| bulk rows | ${(calls - watched).toLocaleString('en')} |`);
console.log(`| seconds above their allowance | ${above} |`);
console.log(
  `| wait of a watched row for the allowance, p50 and p95 | ${waitAt(0.5)} and ${waitAt(0.95)} s |`,
);
console.log(`| store operations a call | ${(storeOps / calls).toFixed(3)} |`);
console.log(`\nSimulated in ${((performance.now() - started) / 1000).toFixed(0)} s.`);

const folder = join(import.meta.dirname, '../docs/charts');
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, 'day.svg'),
  drawChart({
    title: 'A day: bulk work takes what those who watch leave',
    x: 'hour of the day',
    y: 'calls a minute',
    series: [
      {
        name: 'both',
        color: '#888888',
        points: steps.map((step) => [step.hour, step.interactive + step.bulk]),
      },
      { name: 'bulk', color: '#1d7f5f', points: steps.map(({ hour, bulk }) => [hour, bulk]) },
      {
        name: 'interactive',
        color: '#2563eb',
        points: steps.map(({ hour, interactive }) => [hour, interactive]),
      },
    ],
    line: { name: 'the account', y: REQUESTS },
  }),
);
console.log(`Drawn: ${join(folder, 'day.svg')}`);
process.exit(0);
