import { type ExecFileException, execFile } from 'node:child_process';
import nodeModule from 'node:module';
import { CorruptError, TooLargeError } from '../errors.ts';
import type { Size } from './geometry.ts';

/** The largest drawing: what a variant of the longest side can need. */
const MAX_DRAWN_PIXELS = 4096 * 4096;
const MAX_DRAWING_MS = 10_000;
/** What a drawing takes at most: one that is too slow enlarged is tried at its own size. */
export const LONGEST_DRAWING_MS = 2 * MAX_DRAWING_MS;
/** A strip that covers a box would be as long as it likes. Cairo's surfaces end at 32,767. */
const MAX_ENLARGED_SIDE = 16_384;
const MAX_OUTPUT_BYTES = MAX_DRAWN_PIXELS * 4 + 1024 * 1024;
const NOMINAL_BYTES = 8;

export interface Drawing {
  /** At 72 dots an inch, the size that sharp gives an SVG. */
  nominal: Size;
  /** The SVG drawn as large as needed, not compressed. */
  png: Buffer;
}

export interface DrawOptions {
  /** More than these are not drawn, whatever the box: what a surface of them costs is budgeted. */
  maxPixels?: number;
  timeoutMs?: number;
}

/**
 * Draws a checked SVG in a process of its own, and kills it when it takes too long. librsvg cannot
 * be interrupted, and one filter of a hundred bytes keeps it busy for as long as its author likes
 * (feMorphology with a radius of 200: 19 s). The process has no environment, so no credentials,
 * while it reads what a stranger wrote. It costs about 150 ms, and SVGs are rare among photographs.
 *
 * A drawing has no pixels of its own, so it is drawn larger than its nominal size where the box is: an
 * icon of 16×16 is as sharp as any other. What cannot be drawn so large is drawn at its own size: a
 * filter that takes a moment at 24×24 may take a minute at 1600×1600.
 *
 * @param box the drawing covers it (`outside`) or fits in it (`inside`)
 */
export async function drawSvg(
  svg: Buffer,
  box: Size & { fit: 'inside' | 'outside' },
  { maxPixels = MAX_DRAWN_PIXELS, timeoutMs = MAX_DRAWING_MS }: DrawOptions = {},
): Promise<Drawing> {
  const max = Math.min(MAX_DRAWN_PIXELS, maxPixels);
  const draw = (longest: number) => run(svg, { ...box, max, longest }, timeoutMs);
  let { stdout, failure } = await draw(MAX_ENLARGED_SIDE);
  if (failure !== undefined && mayBeEasier(nominalOf(stdout), box, failure)) {
    ({ stdout, failure } = await draw(0));
  }
  if (failure !== undefined) throw classify(failure, timeoutMs);
  const nominal = nominalOf(stdout);
  if (nominal === undefined || stdout.length === NOMINAL_BYTES) {
    throw new TooLargeError(`expected an SVG of at most ${max} pixels and it has more`);
  }
  return { nominal, png: stdout.subarray(NOMINAL_BYTES) };
}

/** Told before anything is drawn. */
function nominalOf(stdout: Buffer): Size | undefined {
  if (stdout.length < NOMINAL_BYTES) return undefined;
  return { width: stdout.readUInt32LE(0), height: stdout.readUInt32LE(4) };
}

/** Whether it was to be drawn larger than it is, or was not even begun in time. */
function mayBeEasier(
  nominal: Size | undefined,
  { width, height, fit }: Parameters<typeof drawSvg>[1],
  { error }: Failure,
): boolean {
  if (nominal === undefined) return error.killed === true;
  const [across, down] = [width > nominal.width, height > nominal.height];
  return fit === 'inside' ? across && down : across || down;
}

/**
 * The program of the process, as text because a bundle has no file to start. It writes two 32-bit
 * numbers, the nominal size, and a PNG; or no PNG when the drawing would be too large.
 */
const PROGRAM = `
const [sharpPath, parameters] = process.argv.slice(1);
const { width, height, fit, max, longest } = JSON.parse(parameters);
const sharp = require(sharpPath);
sharp.cache(false);
sharp.concurrency(1);
(async () => {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const svg = Buffer.concat(chunks);
  const nominal = await sharp(svg, { limitInputPixels: false }).metadata();
  const header = Buffer.alloc(8);
  header.writeUInt32LE(nominal.width, 0);
  header.writeUInt32LE(nominal.height, 4);
  process.stdout.write(header);
  const across = width / nominal.width;
  const down = height / nominal.height;
  const wanted = fit === 'inside' ? Math.min(across, down) : Math.max(across, down);
  const room = Math.min(
    Math.sqrt(max / (nominal.width * nominal.height)),
    longest / Math.max(nominal.width, nominal.height),
  );
  const factor = Math.min(wanted, Math.max(1, room));
  const whole = factor < wanted ? Math.floor : Math.round;
  const size = {
    width: Math.max(1, whole(nominal.width * factor)),
    height: Math.max(1, whole(nominal.height * factor)),
  };
  if (size.width * size.height > max) return;
  const png = await sharp(svg, { limitInputPixels: false })
    .resize({ ...size, fit: 'fill' })
    .png({ compressionLevel: 0 })
    .toBuffer();
  process.stdout.write(png);
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
  if (/exceeds .* limit/.test(stderr)) {
    return new TooLargeError("expected an SVG within librsvg's limits and it exceeds one", {
      cause,
    });
  }
  // An abort is librsvg giving up: the same drawing would make it give up again.
  if (error.code === FAILED_TO_DRAW || error.signal === 'SIGABRT') {
    return new CorruptError('expected an SVG that can be drawn and this one cannot', { cause });
  }
  return new Error('the process that draws SVGs ended unexpectedly', { cause });
}
