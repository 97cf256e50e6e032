import type { Originals } from '../../shared/thumbnails/originals.ts';
import type { ThumbnailsBucket } from '../../shared/thumbnails/thumbnails-bucket.ts';
import type { Variant } from '../../shared/thumbnails/variant.ts';
import { requireBucket } from '../buckets.ts';
import { type Clients, openClients } from '../clients.ts';
import { type Backfill, enqueue, type Tally } from '../enqueue.ts';
import { openPosition, type Position } from '../position.ts';
import { printable } from '../printable.ts';
import { createProgress } from '../progress.ts';
import { requireQueue } from '../queues.ts';
import { INTERRUPTED, stopBySignals } from '../stop-by-signals.ts';
import type { Target } from '../target.ts';
import { UsageError } from '../usage-error.ts';
import { galleriesBelow } from './galleries-below.ts';

/** What a backfill is asked for. One that differs in any option but `restart` is another, with a position of its own. */
export interface BackfillOptions {
  /** Of all galleries without it. */
  gallery?: string | undefined;
  missing: boolean;
  lost: boolean;
  variant?: string | undefined;
  restart: boolean;
}

/** Goes on from where the same backfill was stopped, and tells how far it is. */
export async function runBackfill(target: Target, options: BackfillOptions): Promise<void> {
  const lacking = lackingVariants(target, options);
  const { restart, ...asked } = options;
  const clients = openClients(target);
  // A stack's queues go with it, while its bucket and its table stay.
  await requireQueue(clients.sqs, target.outputs.EagerQueueUrl);
  const lostFrom = options.lost ? thumbnailsOf(target, clients) : undefined;
  // In a bucket that is not there, everything would be lost.
  if (lostFrom !== undefined) await requireBucket(lostFrom.client, lostFrom.bucket, target);
  const position = await openPosition([target.outputs.OriginalsBucket, asked], restart);
  const signal = stopBySignals('the images that were listed get their messages first');

  const what = printable(options.gallery ?? 'all galleries');
  console.log(`Backfill of ${what} in ${target.description}`);
  if (position.after !== undefined) {
    console.log(`Taken up after ${printable(position.after)} (--restart begins again)`);
  }
  await fill(
    {
      ...connect(target, clients),
      signal,
      now: Date.now,
      ...(options.gallery === undefined ? {} : { gallery: options.gallery }),
      ...(lacking === undefined ? {} : { lacking }),
      ...(lostFrom === undefined ? {} : { lostFrom }),
      ...(position.after === undefined ? {} : { after: position.after }),
    },
    position,
  );
}

async function fill(backfill: Backfill, position: Position): Promise<void> {
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  let tally: Tally = { listed: 0, queued: 0, made: 0, failed: 0 };
  let after: string | undefined;
  const progress = createProgress();
  try {
    for await (tally of enqueue(backfill)) {
      // The last page is told of by the summary.
      if (tally.after === undefined || tally.after === after) continue;
      after = tally.after;
      await position.save(after);
      progress.show(`${describe(tally)} · ${rate(tally.listed, seconds())}`);
    }
  } finally {
    progress.end();
  }
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
    throw await nothingIn(backfill.originals, backfill.gallery);
  }
  console.log(`Done: ${summary}`);
}

/** Galleries below one that are named, where it holds nothing else. */
const NAMED = 3;

async function nothingIn(originals: Originals, gallery: string): Promise<UsageError> {
  const below = await galleriesBelow(originals, gallery, NAMED + 1);
  if (below.length === 0) {
    return new UsageError(
      'Nothing is there: expected a gallery of the originals bucket, such as a/b for a/b/c.jpg.',
    );
  }
  const named = below.slice(0, NAMED).join(', ');
  const more = below.length > NAMED ? ' and others' : '';
  return new UsageError(
    `${gallery} holds no images itself, only folders: name one of them by --gallery (${named}${more}), or take all galleries by --all.`,
  );
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

function thumbnailsOf(target: Target, { s3 }: Clients): ThumbnailsBucket {
  const bucket = target.outputs.ThumbnailsBucket;
  if (bucket === undefined) {
    throw new UsageError(
      `--lost: expected the output ThumbnailsBucket of ${target.description}, got none: deploy it again with this version.`,
    );
  }
  return { client: s3, bucket };
}

function connect(
  { outputs }: Target,
  { s3, sqs, dynamodb }: Clients,
): Pick<Backfill, 'originals' | 'table' | 'queue'> {
  const { OriginalsBucket, ImagesTable, EagerQueueUrl } = outputs;
  return {
    originals: { client: s3, bucket: OriginalsBucket },
    table: { client: dynamodb, name: ImagesTable },
    queue: { client: sqs, url: EagerQueueUrl },
  };
}
