// What a burst of cold images does to everyone else: the p99 of calls that have nothing to do with
// it, quiet and during the burst, in one run on the local cloud. Also how long the images take.
//
//   npm run bench:burst -- [images=81]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { S3Client } from '@aws-sdk/client-s3';
import sharp from 'sharp';
import { startLocalCloud } from '../local/cloud.ts';
import { synthesise } from '../local/synthesis.ts';
import { silentStack } from '../test/flows/silent-stack.ts';
import { gallery, put, settled, type Target, thumbnails, until } from '../test/flows/target.ts';

const COLD = Number(process.argv[2] ?? 81);
const WARM = 80;
const CALLS_A_SECOND = 20;
const LEAST_SECONDS = 15;

async function main(): Promise<void> {
  const root = resolve(import.meta.dirname, '..');
  const stateDir = await mkdtemp(join(tmpdir(), 'glimpse-burst-'));
  // Nothing announces the cold images: only the request sets work going.
  const cdkOut = await silentStack(root, await synthesise(root));
  const cloud = await startLocalCloud({ root, stateDir, cdkOut });
  try {
    const { s3, region, credentials, buckets, api, token = '' } = cloud.endpoints;
    const client = new S3Client({ endpoint: s3, region, credentials, forcePathStyle: true });
    await measure({ api, s3: client, originals: buckets.originals ?? '', token });
  } finally {
    await cloud.stop();
    for (const folder of [stateDir, cdkOut]) await rm(folder, { recursive: true, force: true });
  }
}

async function measure(target: Target): Promise<void> {
  const bytes = await photograph();
  const warm = await fill(target, 'warm', WARM, bytes);
  await until(() => thumbnails(target, warm), settled, { withinMs: 300_000 });
  const cold = await fill(target, 'cold', COLD, bytes);

  // A process that has just started is slow for reasons of its own, also at its first claims.
  const early = await fill(target, 'early', 20, bytes);
  await load(target, async () => {
    await until(() => thumbnails(target, early), settled, { withinMs: 300_000, everyMs: 500 });
  });
  const quiet = await load(target, async () => {});
  let madeMs = 0;
  let answerMs = 0;
  const burst = await load(target, async () => {
    const started = performance.now();
    await thumbnails(target, cold);
    answerMs = performance.now() - started;
    // As often as the API asks its callers to.
    await until(() => thumbnails(target, cold), settled, { withinMs: 300_000, everyMs: 500 });
    madeMs = performance.now() - started;
  });
  console.log(`| calls of a warm page | count | p50 ms | p99 ms |`);
  console.log(`|----------------------|-------|--------|--------|`);
  console.log(row('quiet', quiet));
  console.log(row(`burst of ${COLD}`, burst));
  console.log(
    `p99 of the burst ÷ quiet: ${(percentile(burst, 99) / percentile(quiet, 99)).toFixed(2)}`,
  );
  console.log(
    `the cold request was answered in ${answerMs.toFixed(0)} ms, its images were ready in ${(madeMs / 1000).toFixed(1)} s`,
  );
}

/** Calls at a steady rate, whatever the answers take, until the work is done and a while has passed. */
async function load(target: Target, work: () => Promise<void>): Promise<number[]> {
  const durations: number[] = [];
  const calls: Promise<void>[] = [];
  let working = true;
  const done = work().finally(() => {
    working = false;
  });
  for (let call = 0; working || call < LEAST_SECONDS * CALLS_A_SECOND; call++) {
    calls.push(
      (async () => {
        const started = performance.now();
        await gallery(target, 'warm');
        durations.push(performance.now() - started);
      })(),
    );
    await sleep(1000 / CALLS_A_SECOND);
  }
  await Promise.all([done, ...calls]);
  return durations;
}

async function fill(
  target: Target,
  folder: string,
  count: number,
  bytes: Buffer,
): Promise<string[]> {
  const images = Array.from({ length: count }, (_, index) => `${folder}/${1000 + index}.jpg`);
  for (const image of images) await put(target, image, bytes);
  return images;
}

/** Two megapixels of soft noise: about what a shop's photograph costs. */
function photograph(): Promise<Buffer> {
  const noise = Buffer.from(Array.from({ length: 60 * 45 * 3 }, () => Math.random() * 255));
  return sharp(noise, { raw: { width: 60, height: 45, channels: 3 } })
    .resize(1600, 1200, { kernel: 'cubic' })
    .jpeg({ quality: 85 })
    .toBuffer();
}

function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return (
    sorted[Math.min(Math.floor((sorted.length * percent) / 100), sorted.length - 1)] ?? Number.NaN
  );
}

function row(name: string, durations: readonly number[]): string {
  const cells = [
    String(durations.length),
    percentile(durations, 50).toFixed(1),
    percentile(durations, 99).toFixed(1),
  ];
  return `| ${name.padEnd(20)} | ${cells.map((cell, at) => cell.padEnd(at === 0 ? 5 : 6)).join(' | ')} |`;
}

await main();
