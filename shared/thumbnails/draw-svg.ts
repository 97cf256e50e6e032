import { type ExecFileException, execFile } from 'node:child_process';
import nodeModule from 'node:module';
import { CorruptError, TooLargeError } from '../errors.ts';
import type { Size } from './geometry.ts';

/** The largest drawing: what a variant of the longest side can need. */
const MAX_DRAWN_PIXELS = 4096 * 4096;
const MAX_DRAWING_MS = 10_000;
const MAX_OUTPUT_BYTES = MAX_DRAWN_PIXELS * 4 + 1024 * 1024;

export interface Drawing {
  /** At 72 dots an inch, the size that sharp gives an SVG. */
  nominal: Size;
  /** The SVG drawn no larger than needed, not compressed. */
  png: Buffer;
}

/**
 * Draws a checked SVG in a process of its own, and kills it when it takes too long. librsvg cannot
 * be interrupted, and one filter of a hundred bytes keeps it busy for as long as its author likes
 * (feMorphology with a radius of 200: 19 s). The process has no environment, so no credentials,
 * while it reads what a stranger wrote. It costs about 150 ms, and SVGs are rare among photographs.
 *
 * @param box the drawing covers it (`outside`) or fits in it (`inside`); never above nominal size
 */
export async function drawSvg(
  svg: Buffer,
  box: Size & { fit: 'inside' | 'outside' },
  { timeoutMs = MAX_DRAWING_MS }: { timeoutMs?: number } = {},
): Promise<Drawing> {
  const { stdout, failure } = await run(svg, { ...box, max: MAX_DRAWN_PIXELS }, timeoutMs);
  if (failure !== undefined) throw classify(failure, timeoutMs);
  if (stdout.length < 8) {
    throw new TooLargeError(
      `expected an SVG of at most ${MAX_DRAWN_PIXELS} pixels and it has more`,
    );
  }
  return {
    nominal: { width: stdout.readUInt32LE(0), height: stdout.readUInt32LE(4) },
    png: stdout.subarray(8),
  };
}

/**
 * The program of the process, as text because a bundle has no file to start. It writes two 32-bit
 * numbers, the nominal size, and a PNG; or nothing when the drawing would be too large.
 */
const PROGRAM = `
const [sharpPath, parameters] = process.argv.slice(1);
const { width, height, fit, max } = JSON.parse(parameters);
const sharp = require(sharpPath);
sharp.cache(false);
sharp.concurrency(1);
(async () => {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const svg = Buffer.concat(chunks);
  const nominal = await sharp(svg, { limitInputPixels: false }).metadata();
  const across = width / nominal.width;
  const down = height / nominal.height;
  const factor = Math.min(1, fit === 'inside' ? Math.min(across, down) : Math.max(across, down));
  const size = {
    width: Math.max(1, Math.round(nominal.width * factor)),
    height: Math.max(1, Math.round(nominal.height * factor)),
  };
  if (size.width * size.height > max) return;
  const png = await sharp(svg, { limitInputPixels: false })
    .resize({ ...size, fit: 'fill' })
    .png({ compressionLevel: 0 })
    .toBuffer();
  const header = Buffer.alloc(8);
  header.writeUInt32LE(nominal.width, 0);
  header.writeUInt32LE(nominal.height, 4);
  process.stdout.write(Buffer.concat([header, png]));
})().catch((error) => {
  console.error(error.message);
  process.exitCode = 3;
});
`;
const FAILED_TO_DRAW = 3;

interface Failure {
  error: ExecFileException;
  stderr: string;
}

function run(
  svg: Buffer,
  parameters: object,
  timeoutMs: number,
): Promise<{ stdout: Buffer; failure?: Failure }> {
  const sharpPath = nodeModule.createRequire(import.meta.url).resolve('sharp');
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--input-type=commonjs', '--eval', PROGRAM, sharpPath, JSON.stringify(parameters)],
      {
        encoding: 'buffer',
        env: { MALLOC_ARENA_MAX: '2' },
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: MAX_OUTPUT_BYTES,
      },
      (error, stdout, stderr) => {
        if (error === null) resolve({ stdout });
        else resolve({ stdout, failure: { error, stderr: stderr.toString('utf8') } });
      },
    );
    // A process that ended early closes its end; what it died of is told above.
    child.stdin?.on('error', () => {});
    child.stdin?.end(svg);
  });
}

function classify({ error, stderr }: Failure, timeoutMs: number): Error {
  // Not execFile's own message, which repeats the whole program.
  const cause = new Error(stderr.trim().slice(0, 500) || `${error.signal ?? error.code}`);
  if (error.killed === true) {
    return new TooLargeError(
      `expected an SVG that is drawn within ${timeoutMs} ms and it was not done`,
      { cause },
    );
  }
  // An abort is librsvg giving up: the same drawing would make it give up again.
  if (error.code === FAILED_TO_DRAW || error.signal === 'SIGABRT') {
    return new CorruptError('expected an SVG that can be drawn and this one cannot', { cause });
  }
  return new Error('the process that draws SVGs ended unexpectedly', { cause });
}
