import type { ThumbnailsBucket } from '../shared/thumbnails/thumbnails-bucket.ts';
import type { Variant } from '../shared/thumbnails/variant.ts';
import { openClients } from './clients.ts';
import { type Backfill, enqueue, type Tally } from './enqueue.ts';
import { openPosition, type Position } from './position.ts';
import { readOptions } from './read-options.ts';
import { INTERRUPTED, stopBySignals } from './stop-by-signals.ts';
import { openTarget, type Target, UsageError } from './target.ts';

const HELP = `Makes the thumbnails that a bucket lacks: sends a message for each image to the eager queue.

  npm run backfill -- --gallery G | --all [options]

  --gallery G       the images of one gallery, without the folders below it
  --all             the images of the whole bucket
  --missing         only images that lack a thumbnail, by the images table
  --lost            as --missing, and looks for each thumbnail that the table says is made: what something
                    removed from the bucket is made again; one request to S3 a thumbnail
  --variant V       only images that lack this variant
  --outputs FILE    a deployed stack, by the file that "npm run deploy" writes (cdk-outputs.json);
                    without it, the local cloud that "npm start" runs
  --state DIR       the local cloud's, where "npm start -- --state DIR" has another than .glimpse
  --restart         from the beginning, where an earlier run was stopped
  --help

Without --missing every image gets a message; a worker that finds nothing to make reads one item
and moves on. Ctrl-C lets the page of images under way end, and once more ends it at once; the same
command then goes on from there. It ends with 0 when it is done, with 1 if something fails, with 2 if
it was called wrongly, and with ${INTERRUPTED} if it was stopped.`;

async function main(): Promise<void> {
  const values = readOptions(process.argv.slice(2), {
    gallery: { type: 'string' },
    all: { type: 'boolean', default: false },
    missing: { type: 'boolean', default: false },
    lost: { type: 'boolean', default: false },
    variant: { type: 'string' },
    outputs: { type: 'string' },
    state: { type: 'string', default: '.glimpse' },
    restart: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  if (values.all === (values.gallery !== undefined)) {
    throw new UsageError('Expected either --gallery G or --all. See --help.');
  }
  const target = await openTarget(values.outputs, values.state);
  const lacking = lackingVariants(target, values);
  const { restart, ...asked } = values;
  const position = await openPosition([target.outputs.OriginalsBucket, asked], restart);
  const signal = stopBySignals('the images that were listed get their messages first');

  console.log(`Backfill of ${values.gallery ?? 'all galleries'} in ${target.description}`);
  if (position.after !== undefined) {
    console.log(`Taken up after ${position.after} (--restart begins again)`);
  }
  await run(
    {
      ...connect(target),
      signal,
      now: Date.now,
      ...(values.gallery === undefined ? {} : { gallery: values.gallery }),
      ...(lacking === undefined ? {} : { lacking }),
      ...(values.lost ? { lostFrom: thumbnailsOf(target) } : {}),
      ...(position.after === undefined ? {} : { after: position.after }),
    },
    position,
  );
}

async function run(backfill: Backfill, position: Position): Promise<void> {
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  let tally: Tally = { listed: 0, queued: 0, made: 0, failed: 0 };
  for await (tally of enqueue(backfill)) {
    if (tally.after !== undefined) await position.save(tally.after);
    showProgress(`${describe(tally)} · ${rate(tally.listed, seconds())}`);
  }
  endProgress();
  const summary = `${describe(tally)} in ${seconds().toFixed(1)} s (${rate(tally.listed, seconds())})`;
  if (backfill.signal.aborted) {
    console.log(`Stopped: ${summary}. The same command goes on from here.`);
    process.exitCode = INTERRUPTED;
    return;
  }
  await position.clear();
  if (tally.listed === 0 && backfill.after === undefined) {
    if (backfill.gallery === undefined) {
      console.log('There is nothing in the originals bucket, and so nothing to do.');
      return;
    }
    throw new UsageError(
      'Nothing is there: expected a gallery of the originals bucket, such as a/b for a/b/c.jpg.',
    );
  }
  console.log(`Done: ${summary}`);
}

function describe({ listed, queued, made, failed, lost = 0 }: Tally): string {
  const count = (value: number) => value.toLocaleString('en');
  return [
    `${count(listed)} listed`,
    `${count(queued)} queued`,
    ...(lost > 0 ? [`${count(lost)} thumbnails lost`] : []),
    ...(made > 0 ? [`${count(made)} made already`] : []),
    ...(failed > 0 ? [`${count(failed)} failed before and not due yet`] : []),
  ].join(' · ');
}

function rate(images: number, seconds: number): string {
  return `${Math.round(images / Math.max(seconds, 0.001)).toLocaleString('en')} images/s`;
}

function showProgress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`);
}

function endProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}

function lackingVariants(
  { outputs }: Target,
  { missing, lost, variant }: { missing: boolean; lost: boolean; variant?: string | undefined },
): readonly Variant[] | undefined {
  if (variant === undefined) return missing || lost ? outputs.Variants : undefined;
  const found = outputs.Variants.filter(({ name }) => name === variant);
  if (found.length > 0) return found;
  const known = outputs.Variants.map(({ name }) => name).join(', ');
  throw new UsageError(`--variant: expected one of ${known}, got ${variant}.`);
}

function thumbnailsOf(target: Target): ThumbnailsBucket {
  const bucket = target.outputs.ThumbnailsBucket;
  if (bucket === undefined) {
    throw new UsageError(
      `--lost: expected the output ThumbnailsBucket of ${target.description}, got none: deploy it again with this version.`,
    );
  }
  return { client: openClients(target).s3, bucket };
}

function connect(target: Target): Pick<Backfill, 'originals' | 'table' | 'queue'> {
  const { s3, sqs, dynamodb } = openClients(target);
  const { OriginalsBucket, ImagesTable, EagerQueueUrl } = target.outputs;
  return {
    originals: { client: s3, bucket: OriginalsBucket },
    table: { client: dynamodb, name: ImagesTable },
    queue: { client: sqs, url: EagerQueueUrl },
  };
}

try {
  await main();
} catch (error) {
  endProgress();
  console.error(error instanceof Error ? `backfill: ${error.message}` : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
