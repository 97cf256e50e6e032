import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { type LocalCloud, startLocalCloud } from '../../../local/cloud.ts';
import { signedIn } from '../../callers.ts';

// The whole path on the local cloud, while its processes are killed: the stack's own template, with
// clocks that are short enough to wait for.

/** `KILLS_ROWS=5000 KILLS=1000` for as long as one likes; `KILLS_TIMEOUT=120` as configured. */
const ROWS = Number(process.env.KILLS_ROWS ?? 300);
const MOST_KILLS = Number(process.env.KILLS ?? 5);
const TIMEOUT_SECONDS = Number(process.env.KILLS_TIMEOUT ?? 10);
const CALL_TIMEOUT_MS = TIMEOUT_SECONDS * 200;
/** Two seconds a chunk, so that a kill a second finds somebody at work. */
const LATENCY_MS = 400;
/** As configured. */
const GATE = 10;
/**
 * At a time. Each that starts takes a second of the processor: of ten, on a machine that is busy, none
 * came to its first row within the timeout, and all began anew.
 */
const PROCESSES = 4;

const root = resolve(import.meta.dirname, '../../..');
let cloud: LocalCloud;
let folders: string[];
/** Calls that were given up at their deadline, by a process that a busy machine held up: their answers may come. */
let late = 0;
beforeAll(async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'glimpse-kills-'));
  const cdkOut = await quickStack();
  folders = [stateDir, cdkOut];
  cloud = await startLocalCloud({
    root,
    stateDir,
    cdkOut,
    provider: { latency: { kind: 'fixed', ms: LATENCY_MS }, seed: 1 },
    onLog: (_, text) => {
      late += text.match(/"message":"a call failed".*"code":"timeout"/g)?.length ?? 0;
    },
  });
});
afterAll(async () => {
  await cloud.stop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

interface Resource {
  Type: string;
  Properties: {
    Timeout?: number;
    VisibilityTimeout?: number;
    BatchSize?: number;
    ScalingConfig?: { MaximumConcurrency: number };
    Environment?: { Variables: Record<string, unknown> };
  };
}

async function quickStack(): Promise<string> {
  const folder = await mkdtemp(join(root, '.glimpse/kills-'));
  await cp(inject('cdkOut'), folder, { recursive: true });
  const file = join(folder, 'Glimpse.template.json');
  const template = JSON.parse(await readFile(file, 'utf8'));
  for (const { Properties: properties } of Object.values<Resource>(template.Resources)) {
    // A chunk a process, so that there are many to kill.
    if (properties?.BatchSize === 4) {
      properties.BatchSize = 1;
      properties.ScalingConfig = { MaximumConcurrency: PROCESSES };
    }
    if (properties?.VisibilityTimeout === 720) properties.VisibilityTimeout = 2 * TIMEOUT_SECONDS;
    const variables = properties?.Environment?.Variables;
    if (variables === undefined) continue;
    if (variables.GATE !== undefined) {
      properties.Timeout = TIMEOUT_SECONDS;
      const provider = JSON.parse(String(variables.PROVIDER));
      variables.PROVIDER = JSON.stringify({ ...provider, callTimeoutMs: CALL_TIMEOUT_MS });
    }
    // Kills are not what these rows should fail for.
    if (variables.STALLED !== undefined) {
      variables.STALLED = JSON.stringify({
        resends: 1000,
        quietMinutes: { interactive: 1, bulk: 1 },
      });
    }
  }
  await writeFile(file, JSON.stringify(template));
  return folder;
}

const importSchema = z.object({
  importId: z.string(),
  state: z.string(),
  rows: z.object({ total: z.number(), done: z.number(), failed: z.number() }),
});

async function api(path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(`${cloud.endpoints.api}${path}`, {
    headers: signedIn(cloud.endpoints),
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  expect(answer.ok, await answer.clone().text()).toBe(true);
  return await answer.json();
}

async function upload(rows: number): Promise<string> {
  const created = z
    .object({
      importId: z.string(),
      upload: z.object({ url: z.string(), fields: z.record(z.string(), z.string()) }),
    })
    .parse(await api('/imports', { name: 'kills.csv', mode: 'bulk' }));
  const form = new FormData();
  for (const [name, value] of Object.entries(created.upload.fields)) form.append(name, value);
  const lines = Array.from({ length: rows }, (_, index) => `${index + 1},Thing ${index + 1}`);
  form.append('file', new Blob([`id,name\n${lines.join('\n')}\n`]));
  const answer = await fetch(created.upload.url, { method: 'POST', body: form });
  expect(answer.ok).toBe(true);
  return created.importId;
}

const callSchema = z.object({
  row: z.string(),
  start: z.number(),
  end: z.number(),
  outcome: z.string(),
});

test('kill -9 of a process every second: the import completes, exact', {
  timeout: 120_000 + ROWS * 60 + TIMEOUT_SECONDS * 2000,
}, async () => {
  const { functions, provider } = cloud.endpoints;
  const worker = String(functions.SummariesBulkWorker);
  const functionNames = ['SummariesBulkWorker', 'SummariesReaper', 'SummariesApi'].map((name) =>
    String(functions[name]),
  );
  const started = performance.now();
  const importId = await upload(ROWS);
  const read = async () => importSchema.parse(await api(`/imports/${importId}`));
  let kills = 0;
  let last = { done: 0, failed: 0 };
  let it = await read();
  while (it.state !== 'completed') {
    await sleep(1000);
    // As its schedule would, only sooner.
    void cloud.invoke(String(functions.SummariesReaper), {}).catch(() => {});
    if (it.rows.done > 0 && kills < MOST_KILLS) {
      const busy = functionNames.filter((name) => cloud.counts(name).running > 0);
      const victim = busy[Math.floor(Math.random() * busy.length)];
      if (victim !== undefined) kills += cloud.killFunction(victim, 1);
    }
    it = await read();
    expect(it.rows.done + it.rows.failed).toBeLessThanOrEqual(ROWS);
    expect(it.rows.done).toBeGreaterThanOrEqual(last.done);
    last = it.rows;
  }
  expect(it.rows).toEqual({ total: ROWS, done: ROWS, failed: 0 });
  expect(kills).toBeGreaterThan(0);

  const lines = (await (await fetch(`${provider}/ledger`)).text()).trim().split('\n');
  const calls = lines.map((line) => callSchema.parse(JSON.parse(line)));
  expect(new Set(calls.map(({ row }) => row)).size).toBe(ROWS);
  // What was in flight in a process that ended early is paid for again, or was given up, and nothing else.
  const { mostAtOnce, errors } = cloud.counts(worker);
  const again = calls.filter(({ outcome }) => outcome === 'done').length - ROWS;
  expect(again).toBeLessThanOrEqual(errors * GATE + late);
  expect(mostInFlight(calls)).toBeLessThanOrEqual(mostAtOnce * GATE);
  console.log(
    `${Math.round((performance.now() - started) / 1000)} s, ${kills} kills, ${errors} processes ended early, ${late} calls given up, ${again} of ${ROWS} rows paid for again, ${mostInFlight(calls)} calls in flight at most of ${mostAtOnce} × ${GATE}`,
  );
});

function mostInFlight(calls: readonly { start: number; end: number }[]): number {
  const events = calls.flatMap(({ start, end }) => [
    { at: start, change: 1 },
    { at: end, change: -1 },
  ]);
  // What ends at the moment at which another begins is over.
  events.sort((a, b) => a.at - b.at || a.change - b.change);
  let inFlight = 0;
  let most = 0;
  for (const { change } of events) {
    inFlight += change;
    most = Math.max(most, inFlight);
  }
  return most;
}
