// What a function's first call costs on this machine, by stages, and how large its bundle is.
//
//   node bench/cold-start.ts [starts=11]
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { startLocalCloud } from '../local/cloud.ts';
import { synthesise } from '../local/synthesis.ts';

const STARTS = Number(process.argv[2] ?? 11);

const root = resolve(import.meta.dirname, '..');

async function main(): Promise<void> {
  const cdkOut = await synthesise(root);
  await showBundles(cdkOut);
  const stateDir = await mkdtemp(join(tmpdir(), 'glimpse-cold-'));
  const cloud = await startLocalCloud({ root, stateDir, cdkOut });
  const cold: number[] = [];
  const warm: number[] = [];
  try {
    const url = `${cloud.endpoints.api}/galleries`;
    const name = cloud.endpoints.functions.ApiFunction ?? '';
    for (let start = 0; start < STARTS; start++) {
      cold.push(await timed(url));
      for (let call = 0; call < 10; call++) warm.push(await timed(url));
      cloud.killFunction(name);
    }
  } finally {
    await cloud.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
  console.log(
    `API, first call of a process: median ${median(cold).toFixed(0)} ms of ${cold.length}`,
  );
  console.log(
    `API, later calls:             median ${median(warm).toFixed(1)} ms of ${warm.length}`,
  );
}

async function timed(url: string): Promise<number> {
  const started = performance.now();
  const answer = await fetch(url);
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return performance.now() - started;
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
    const asset = join(cdkOut, `asset.${code.S3Key.replace('.zip', '')}`, 'index.mjs');
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
