// A day of traffic in simulated time: people watch imports by day, bulk work fills what they leave and
// the night. The allowance, its lanes and its waits are the real ones; time, the provider and the
// store's answers are simulated. Draws docs/charts/day.svg.
//
//   npm run bench:day -- [hours=24]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawChart } from '../cli/chart.ts';
import { createAllowance } from '../shared/fleet/allowance.ts';
import type { AllowanceSettings, Mode } from '../shared/fleet/allowance-settings.ts';
import { slotsIn } from '../shared/fleet/lanes.ts';
import type { Line } from '../shared/fleet/line.ts';
import { createSoloLine } from '../shared/fleet/solo-line.ts';
import { createVirtualTime } from '../test/virtual-time.ts';

const HOURS = Number(process.argv[2] ?? 24);
const MIDNIGHT = Date.UTC(2026, 0, 5);
const HOUR = 3_600_000;
const SERVICE_MS = 800;
const TOKENS = 600;
const settings: AllowanceSettings = {
  line: 'shared',
  requestsPerMinute: 300,
  tokensPerMinute: null,
  interactiveShare: 0.3,
  frameSeconds: 8,
  reserve: 0.1,
};
/** Rows that imports bring in an hour which somebody watches: of the account's 18,000. */
const WATCHED = [
  0, 0, 0, 0, 0, 200, 800, 2000, 5000, 9000, 11_000, 9000, 5000, 8000, 11_000, 12_000, 9000, 5000,
  2500, 1500, 800, 400, 0, 0,
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

interface Begun {
  at: number;
  mode: Mode;
  waitMs: number;
}
const begun: Begun[] = [];

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
    begun.push({ at: time.now(), mode, waitMs: time.now() - asked });
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    await time.sleep(SERVICE_MS * Math.exp(0.35 * normal - 0.35 ** 2 / 2));
    admission.settle(TOKENS);
  }
}

let watched = 0;
startMode('interactive', 2, 4, () => {
  if (watched === 0) return false;
  watched -= 1;
  return true;
});
// There is always bulk work: a catalogue of millions.
startMode('bulk', 3, 4, () => true);
void (async () => {
  while (true) {
    const hour = Math.floor((time.now() - MIDNIGHT) / HOUR) % 24;
    const rows = WATCHED[hour] ?? 0;
    if (rows === 0) await time.sleep(HOUR / 6);
    else {
      // Imports come at random.
      await time.sleep((-Math.log(1 - random()) * HOUR * IMPORT_ROWS) / rows);
      watched += IMPORT_ROWS;
    }
  }
})();

const started = performance.now();
for (let hour = 1; hour <= HOURS; hour++) {
  await time.pass(MIDNIGHT + hour * HOUR);
  if (process.stderr.isTTY) process.stderr.write(`\r${hour} of ${HOURS} hours simulated`);
}
if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');

const STEP = HOUR / 4;
const steps = Array.from({ length: (HOURS * HOUR) / STEP }, (_, index) => {
  const from = MIDNIGHT + index * STEP;
  const of = (mode: Mode) =>
    begun.filter((call) => call.mode === mode && call.at >= from && call.at < from + STEP).length /
    (STEP / 60_000);
  return { hour: (index + 1) / 4, interactive: of('interactive'), bulk: of('bulk') };
});
const perSecond = new Map<number, number>();
for (const { at } of begun) {
  const second = Math.floor(at / 1000);
  perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
}
const above = [...perSecond].filter(
  ([second, calls]) => calls > slotsIn(second, settings.requestsPerMinute),
).length;
const waits = (mode: Mode) =>
  begun
    .filter((call) => call.mode === mode)
    .map(({ waitMs }) => waitMs)
    .sort((a, b) => a - b);
const at = (sorted: readonly number[], part: number) =>
  ((sorted[Math.floor(sorted.length * part)] ?? 0) / 1000).toFixed(1);
const interactiveWaits = waits('interactive');
const all = settings.requestsPerMinute * 60 * HOURS;
console.log(`| ${HOURS} hours | |\n|---|---:|`);
console.log(`| of the account used | ${((begun.length / all) * 100).toFixed(1)} % |`);
console.log(`| rows that somebody watched | ${interactiveWaits.length.toLocaleString('en')} |`);
console.log(`| bulk rows | ${(begun.length - interactiveWaits.length).toLocaleString('en')} |`);
console.log(`| seconds above their allowance | ${above} |`);
console.log(
  `| wait of a watched row for the allowance, p50 and p95 | ${at(interactiveWaits, 0.5)} and ${at(interactiveWaits, 0.95)} s |`,
);
console.log(`| store operations a call | ${(storeOps / begun.length).toFixed(3)} |`);
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
    line: { name: 'the account', y: settings.requestsPerMinute },
  }),
);
console.log(`Drawn: ${join(folder, 'day.svg')}`);
process.exit(0);
