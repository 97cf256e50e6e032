import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { parseMessage } from '../../shared/messages/thumbnail-work.ts';
import { createDynamo, createS3, createSqs } from '../../shared/runtime/clients.ts';
import { once } from '../../shared/runtime/once.ts';
import { type Delivery, queueHandler } from '../../shared/runtime/queue-stack.ts';
import { readEnv } from './env.ts';
import { makeThumbnails } from './make-thumbnails.ts';
import { retryDelay } from './retry-delay.ts';
import type { Outcome, Workshop } from './workshop.ts';

const logger = new Logger();
const metrics = new Metrics();

// Called by AWS: the on-demand and the eager queue, through their event source mappings.

export const handler = queueHandler({
  logger,
  metrics,
  process: processMessage,
  needsMs: 20_000,
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
    report(outcome, performance.now() - started);
    logger.info('image', { image: work.image, work: work.kind, ...outcome });
  }
}

function report(outcome: Outcome, durationMs: number): void {
  switch (outcome.kind) {
    case 'made':
      metrics.addMetric('ImagesMade', MetricUnit.Count, 1);
      metrics.addMetric('ThumbnailsMade', MetricUnit.Count, outcome.variants);
      metrics.addMetric('MakeDuration', MetricUnit.Milliseconds, durationMs);
      return;
    case 'failed':
      metrics.addMetric('ImagesFailed', MetricUnit.Count, 1);
      return;
    case 'done':
    case 'stale':
    case 'removed':
      return;
  }
}
