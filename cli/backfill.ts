import './compile-cache.ts';
import { readOptions } from './read-options.ts';
import { INTERRUPTED } from './stop-by-signals.ts';
import { tellFailure } from './tell-failure.ts';
import { UsageError } from './usage-error.ts';

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
  // Not before it is known what to make.
  const { openTarget } = await import('./target.ts');
  const target = await openTarget(values.outputs, values.state);
  const { runBackfill } = await import('./backfill/run-backfill.ts');
  await runBackfill(target, values);
}

try {
  await main();
} catch (error) {
  tellFailure('backfill', error);
}
