import { Logger } from '@aws-lambda-powertools/logger';
import { parseMessage, type Work } from '../../shared/messages/thumbnail-work.ts';
import { createEmitter } from '../../shared/metrics/emitter.ts';
import { THUMBNAIL_METRICS } from '../../shared/metrics/thumbnails.ts';
import { createDynamo, createS3, createSqs } from '../../shared/runtime/clients.ts';
import { once } from '../../shared/runtime/once.ts';
import { type Delivery, queueHandler } from '../../shared/runtime/queue-stack.ts';
import { LONGEST_DRAWING_MS } from '../../shared/thumbnails/draw-svg.ts';
import { splitImage } from '../../shared/thumbnails/image-key.ts';
import { readEnv } from './env.ts';
import { makeThumbnails } from './make-thumbnails.ts';
import { retryDelay } from './retry-delay.ts';
import type { Outcome, Workshop } from './workshop.ts';

const logger = new Logger();
const metrics = createEmitter(THUMBNAIL_METRICS);

// Called by AWS: the on-demand and the eager queue, through their event source mappings.

export const handler = queueHandler({
  logger,
  metrics,
  process: processMessage,
  about: (body) => ({ images: parseMessage(body).map(({ image }) => image) }),
  again: () => metrics.add('Retries', 1),
  // Nothing takes longer than the slowest drawing, and as long again as one of its tries to read and to write.
  needsMs: LONGEST_DRAWING_MS + 10_000,
  retry: {
    sqs: once(createSqs),
    queueUrl: (name) => queueUrl(name),
    delayMs: (error, attempt) => retryDelay(error, attempt, Date.now()),
  },
});

// Built on cold start.

const environment = once(readEnv);

const workshop = once((): Workshop => {
  const env = environment();
  const s3 = createS3();
  return {
    table: { client: createDynamo(), name: env.IMAGES_TABLE },
    originals: { client: s3, bucket: env.ORIGINALS_BUCKET },
    thumbnails: { client: s3, bucket: env.THUMBNAILS_BUCKET },
    variants: env.VARIANTS,
    maxBytes: env.MAX_BYTES,
    memoryBytes: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE * 1024 * 1024,
    now: Date.now,
    galleries: new Set(),
  };
});

function queueUrl(name: string): string {
  const urls = [environment().ON_DEMAND_QUEUE_URL, environment().EAGER_QUEUE_URL];
  const url = urls.find((candidate) => candidate.endsWith(`/${name}`));
  if (url === undefined) throw new Error(`${name} is not one of ${urls.join(', ')}`);
  return url;
}

// Done for each record.

async function processMessage({ body, attempt, deadline }: Delivery): Promise<void> {
  for (const work of parseMessage(body)) {
    const started = performance.now();
    const outcome = await makeThumbnails(workshop(), work, { attempt, deadline });
    const ms = performance.now() - started;
    report(work, outcome, ms);
    const { gallery } = splitImage(work.image);
    const told = { image: work.image, gallery, work: work.kind, ms, ...outcome };
    if (outcome.kind === 'failed') logger.warn('image', told);
    else logger.info('image', told);
  }
}

function report(work: Work, outcome: Outcome, durationMs: number): void {
  switch (outcome.kind) {
    case 'made':
      // A removal makes nothing.
      if (work.kind !== 'removed') metrics.add('ImagesMade', 1, { work: work.kind });
      metrics.add('ThumbnailsMade', outcome.variants);
      metrics.add('MakeDuration', durationMs);
      if (outcome.missToReadyMs !== undefined) metrics.add('MissToReady', outcome.missToReadyMs);
      return;
    case 'failed':
      metrics.add('ImagesFailed', 1, { class: outcome.class });
      return;
    case 'done':
    case 'stale':
    case 'removed':
      return;
  }
}
