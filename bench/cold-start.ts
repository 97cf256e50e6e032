// What a function's first call costs on this machine, by stages, and how large its bundle is.
//
//   npm run bench:cold-start -- [starts=7]
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { startLocalCloud } from '../local/cloud.ts';
import { synthesise } from '../local/synthesis.ts';

const STARTS = Number(process.argv[2] ?? 7);
const CALLS = 20;

const root = resolve(import.meta.dirname, '..');

/** Milliseconds, as the function's own report has them. */
interface Call {
  init?: number;
  duration: number;
}

async function main(): Promise<void> {
  const cdkOut = await synthesise(root);
  await showBundles(cdkOut);
  const firsts: Call[] = [];
  const laters: Call[] = [];
  for (let start = 0; start < STARTS; start++) {
    const [first, ...rest] = await callsOfOneProcess(cdkOut);
    if (first !== undefined) firsts.push(first);
    laters.push(...rest);
  }
  const init = median(firsts.map((call) => call.init ?? 0));
  console.log(`\nAPI, medians of ${firsts.length} starts of a process:`);
  console.log(`  loading the bundle  ${init.toFixed(0)} ms`);
  console.log(`  the first call      ${median(firsts.map((call) => call.duration)).toFixed(0)} ms`);
  console.log(`  a later call        ${median(laters.map((call) => call.duration)).toFixed(1)} ms`);
}

async function callsOfOneProcess(cdkOut: string): Promise<Call[]> {
  const stateDir = await mkdtemp(join(tmpdir(), 'glimpse-cold-'));
  const calls: Call[] = [];
  const cloud = await startLocalCloud({
    root,
    stateDir,
    cdkOut,
    onLog: (name, text) => {
      if (name.includes('api')) calls.push(...reportsIn(text));
    },
  });
  try {
    for (let call = 0; call < CALLS; call++) {
      const answer = await fetch(`${cloud.endpoints.api}/galleries`, {
        headers: { authorization: `Bearer ${cloud.endpoints.token}` },
      });
      if (!answer.ok) throw new Error(`the API answered ${answer.status}`);
      await answer.arrayBuffer();
    }
  } finally {
    await cloud.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
  return calls;
}

function reportsIn(text: string): Call[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('REPORT'))
    .map((line) => {
      const init = /Init Duration: ([\d.]+) ms/.exec(line)?.[1];
      const duration = /\tDuration: ([\d.]+) ms/.exec(line)?.[1];
      return { duration: Number(duration), ...(init === undefined ? {} : { init: Number(init) }) };
    });
}

async function showBundles(cdkOut: string): Promise<void> {
  const template = templateSchema.parse(
    JSON.parse(await readFile(join(cdkOut, 'Glimpse.template.json'), 'utf8')),
  );
  console.log('| function           | bundle KB | gzipped KB |');
  console.log('|--------------------|-----------|------------|');
  for (const { Type: type, Properties: properties } of Object.values(template.Resources)) {
    if (type !== 'AWS::Lambda::Function') continue;
    const { Code: code, Environment: environment } = functionSchema.parse(properties);
    const asset = join(cdkOut, `asset.${code.S3Key.replace('.zip', '')}`, 'index.js');
    const bundle = await readFile(asset);
    const cells = [
      kilobytes(bundle.length).padEnd(9),
      kilobytes(gzipSync(bundle).length).padEnd(10),
    ];
    console.log(
      `| ${environment.Variables.POWERTOOLS_SERVICE_NAME.padEnd(18)} | ${cells.join(' | ')} |`,
    );
  }
}

const templateSchema = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string(), Properties: z.unknown() })),
});

const functionSchema = z.object({
  Code: z.object({ S3Key: z.string() }),
  Environment: z.object({ Variables: z.object({ POWERTOOLS_SERVICE_NAME: z.string() }) }),
});

const kilobytes = (bytes: number) => (bytes / 1024).toFixed(0);

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

await main();
