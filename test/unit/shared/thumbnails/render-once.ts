// A process that renders one file and prints, as JSON, what became of it and the peak memory.
import { readFile } from 'node:fs/promises';
import { GlimpseError } from '../../../../shared/errors.ts';
import { readHeader } from '../../../../shared/thumbnails/decode.ts';
import { estimatePeakBytes } from '../../../../shared/thumbnails/memory-budget.ts';
import { render } from '../../../../shared/thumbnails/render.ts';
import { sniff } from '../../../../shared/thumbnails/sniff.ts';
import type { Variant } from '../../../../shared/thumbnails/variant.ts';

const shared = { fit: 'inside', format: 'webp', orientation: 'exif' } as const;
const VARIANTS: Variant[] = [
  { name: 'card', width: 480, height: 480, quality: 75, ...shared },
  { name: 'zoom', width: 1600, height: 1600, quality: 80, ...shared },
];

const [file = '', memoryBytes = '0'] = process.argv.slice(2);
const source = await readFile(file);
let state = 'ready';
try {
  await render(source, VARIANTS, { memoryBytes: Number(memoryBytes) });
} catch (error) {
  if (!(error instanceof GlimpseError)) throw error;
  state = error.code;
}
const peakBytes = await highWaterMark();
const kind = sniff(source);
const estimateBytes =
  kind === 'svg'
    ? undefined
    : estimatePeakBytes(await readHeader(source, kind), { width: 1600, height: 1600 });
console.log(JSON.stringify({ state, peakBytes, estimateBytes }));

/** Not `maxRSS`, where there is another: a process inherits it from the one that started it. */
async function highWaterMark(): Promise<number> {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const status = await readFile('/proc/self/status', 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024;
}
