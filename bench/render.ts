// Renders the two default variants of a mix of photographs in three ways, side by side:
//
//   node bench/render.ts [rounds]
//
// ours           shared/thumbnails/render.ts: one decode for both, and the placeholder besides
// vipsthumbnail  Debian's libvips-tools, once a variant, all files in one process
// sharp, plain   one pipeline a variant, as sharp's documentation shows it
//
// Each runs in processes of its own on one thread, in alternating rounds; the medians are printed.
// Linux only: CPU time and peak memory are read from /proc.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp, { type Sharp } from 'sharp';
import { render } from '../shared/thumbnails/render.ts';
import type { Variant } from '../shared/thumbnails/variant.ts';

const webp = { fit: 'inside', format: 'webp', orientation: 'exif' } as const;
const VARIANTS: readonly Variant[] = [
  { name: 'card', width: 480, height: 480, quality: 75, ...webp },
  { name: 'zoom', width: 1600, height: 1600, quality: 80, ...webp },
];

/** What stands in the mix: each twice, as two different pictures. */
const MIX: readonly (readonly [string, number, number, (image: Sharp) => Sharp])[] = [
  ['2mp.jpg', 1632, 1224, (image) => image.jpeg({ quality: 85 })],
  ['5mp.jpg', 2560, 1920, (image) => image.jpeg({ quality: 85 })],
  ['8mp.jpg', 3264, 2448, (image) => image.jpeg({ quality: 90 })],
  ['8mp-progressive.jpg', 3264, 2448, (image) => image.jpeg({ quality: 85, progressive: true })],
  ['12mp.jpg', 4000, 3000, (image) => image.jpeg({ quality: 90 })],
  ['12mp-progressive.jpg', 4000, 3000, (image) => image.jpeg({ quality: 85, progressive: true })],
  ['4mp.png', 2304, 1728, (image) => image.png({ compressionLevel: 6 })],
  ['6mp.webp', 2832, 2124, (image) => image.webp({ quality: 85, effort: 1 })],
];

interface Run {
  seconds: number;
  cpuSeconds: number;
  peakBytes: number;
}

/** One contender over a folder: the commands it takes, one after the other. */
type Contender = (folder: string, output: string) => readonly (readonly [string, ...string[]])[];

const CONTENDERS: Record<string, Contender> = {
  ours: (folder) => [[process.execPath, fileURLToPath(import.meta.url), '--ours', folder]],
  vipsthumbnail: (folder, output) =>
    VARIANTS.map((variant) => vipsthumbnail(variant, folder, output)),
  'sharp, plain': (folder) => [
    [process.execPath, fileURLToPath(import.meta.url), '--plain', folder],
  ],
};

function vipsthumbnail({ name, width, height, quality }: Variant, folder: string, output: string) {
  const script = `exec vipsthumbnail --vips-concurrency=1 --export-profile srgb --size '${width}x${height}>' --output '${output}/%s-${name}.webp[Q=${quality},strip]' "${folder}"/*`;
  return ['sh', '-c', script] as const;
}

async function main(rounds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-render-'));
  const output = await mkdtemp(join(tmpdir(), 'bench-output-'));
  try {
    await makeMix(folder);
    const files = await readdir(folder);
    const contenders = Object.entries(CONTENDERS).filter(([name]) => isInstalled(name));
    const runs = new Map<string, Run[]>(contenders.map(([name]) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      // Another one first each round, so that none always meets the warm or the throttled machine.
      for (let turn = 0; turn < contenders.length; turn += 1) {
        const [name, contender] = contenders[(round + turn) % contenders.length] ?? [];
        if (name === undefined || contender === undefined) continue;
        runs.get(name)?.push(await measure(contender(folder, output)));
      }
    }
    print(runs, files.length, rounds);
  } finally {
    await rm(folder, { recursive: true });
    await rm(output, { recursive: true });
  }
}

function isInstalled(contender: string): boolean {
  if (contender !== 'vipsthumbnail') return true;
  const { status, stdout } = spawnSync('vipsthumbnail', ['--vips-version'], { encoding: 'utf8' });
  if (status === 0) console.log(`vipsthumbnail is of ${stdout.trim()}`);
  else console.log('vipsthumbnail is not installed (apt-get install libvips-tools): left out');
  return status === 0;
}

async function measure(commands: ReturnType<Contender>): Promise<Run> {
  const run: Run = { seconds: 0, cpuSeconds: 0, peakBytes: 0 };
  for (const [command, ...parameters] of commands) {
    const cpuBefore = cpuSecondsOfChildren();
    const started = performance.now();
    const peakBytes = await finish(
      spawn(command, parameters, {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, MALLOC_ARENA_MAX: '2' },
      }),
    );
    run.seconds += (performance.now() - started) / 1000;
    run.cpuSeconds += cpuSecondsOfChildren() - cpuBefore;
    run.peakBytes = Math.max(run.peakBytes, peakBytes);
  }
  return run;
}

/** Waits for the process; returns the last high-water mark of its memory that was seen. */
function finish(child: ChildProcess): Promise<number> {
  let peak = 0;
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024);
    } catch {
      // It has ended; `exit` follows.
    }
  }, 20);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      clearInterval(timer);
      if (code === 0) resolve(peak);
      else reject(new Error(`expected ${child.spawnfile} to end with 0 and it ended with ${code}`));
    });
  });
}

/** Of all children that have ended; the kernel counts in hundredths of a second. */
function cpuSecondsOfChildren(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The name, in parentheses, may hold spaces; user and system time of children are 14th and 15th after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

function print(runs: Map<string, Run[]>, images: number, rounds: number): void {
  const rows = [...runs].map(([name, each]) => ({
    name,
    perSecond: images / median(each.map(({ seconds }) => seconds)),
    cpuMs: (median(each.map(({ cpuSeconds }) => cpuSeconds)) * 1000) / images,
    peakMb: median(each.map(({ peakBytes }) => peakBytes)) / (1024 * 1024),
  }));
  const [ours] = rows;
  if (ours === undefined) return;
  console.log(
    `\n${images} images, two variants each, medians of ${rounds} rounds; (ours = 1.00)\n`,
  );
  console.log('| contender     | images/s      | CPU ms an image | peak MB       |');
  console.log('|---------------|---------------|-----------------|---------------|');
  for (const row of rows) {
    const cells = [
      `${row.perSecond.toFixed(2)} (${(row.perSecond / ours.perSecond).toFixed(2)})`.padEnd(13),
      `${row.cpuMs.toFixed(0)} (${(row.cpuMs / ours.cpuMs).toFixed(2)})`.padEnd(15),
      `${row.peakMb.toFixed(0)} (${(row.peakMb / ours.peakMb).toFixed(2)})`.padEnd(13),
    ];
    console.log(`| ${row.name.padEnd(13)} | ${cells.join(' | ')} |`);
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

async function makeMix(folder: string): Promise<void> {
  console.log(`making ${MIX.length * 2} images`);
  for (const [index, [name, width, height, encode]] of MIX.entries()) {
    for (const seed of [1, 2]) {
      const image = photo(width, height, index * 2 + seed);
      await writeFile(join(folder, `${seed}-${name}`), await encode(await image).toBuffer());
    }
  }
}

/** Soft shapes of every size and a little grain: costs an encoder about what a photograph does. */
async function photo(width: number, height: number, seed: number): Promise<Sharp> {
  const random = generator(seed);
  const sum = new Float32Array(width * height * 3);
  for (const [step, weight] of [
    [256, 0.5],
    [64, 0.25],
    [16, 0.15],
    [4, 0.07],
    [1, 0.03],
  ] as const) {
    const small = {
      width: Math.ceil(width / step),
      height: Math.ceil(height / step),
      channels: 3,
    } as const;
    const octave = Buffer.alloc(small.width * small.height * 3).map(() => random() & 255);
    const layer = await sharp(octave, { raw: small })
      .resize(width, height, { fit: 'fill', kernel: 'cubic' })
      .raw()
      .toBuffer();
    layer.forEach((value, at) => {
      sum[at] = (sum[at] ?? 0) + value * weight;
    });
  }
  return sharp(Buffer.from(Uint8ClampedArray.from(sum).buffer), {
    raw: { width, height, channels: 3 },
  });
}

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state >> 16;
  };
}

async function renderOurs(folder: string): Promise<void> {
  for (const file of await readdir(folder)) {
    const source = await readFile(join(folder, file));
    await render(source, VARIANTS, { memoryBytes: 1769 * 1024 * 1024 });
  }
}

async function renderPlain(folder: string): Promise<void> {
  sharp.cache(false);
  sharp.concurrency(1);
  for (const file of await readdir(folder)) {
    const source = await readFile(join(folder, file));
    for (const { width, height, quality } of VARIANTS) {
      const box = { width, height, fit: 'inside', withoutEnlargement: true } as const;
      await sharp(source).autoOrient().resize(box).webp({ quality }).toBuffer();
    }
  }
}

const [mode, folder = ''] = process.argv.slice(2);
if (mode === '--ours') await renderOurs(folder);
else if (mode === '--plain') await renderPlain(folder);
else await main(Number(mode ?? 5));
