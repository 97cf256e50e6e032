import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { type ImportJob, parseJobs } from '../../shared/messages/import-job.ts';
import { createDynamo, createS3, createSqs } from '../../shared/runtime/clients.ts';
import { once } from '../../shared/runtime/once.ts';
import { type Delivery, queueHandler } from '../../shared/runtime/queue-stack.ts';
import { retryDelay } from '../../shared/runtime/retry-delay.ts';
import type { Desk } from './desk.ts';
import { readEnv } from './env.ts';
import { readSource } from './read-source.ts';
import { sendAll } from './send-all.ts';
import { writeExport } from './write-export.ts';

const logger = new Logger();
const metrics = new Metrics();

// Called by AWS: the jobs queue, to which S3 tells of sources and the API of what it is asked for.

export const handler = queueHandler({
  logger,
  metrics,
  process: processMessage,
  needsMs: 60_000,
  retry: {
    sqs: once(createSqs),
    queueUrl: () => environment().JOBS_QUEUE_URL,
    delayMs: (_error, attempt) => retryDelay(attempt, Math.random),
  },
});

// Built on cold start.

const environment = once(readEnv);

const desk = once((): Desk => {
  const env = environment();
  const sqs = createSqs();
  const { chunkRows, maxBytes, maxRows, maxColumns, maxFieldCharacters } = env.LIMITS;
  return {
    table: { client: createDynamo(), name: env.IMPORTS_TABLE },
    bucket: { client: createS3(), name: env.IMPORTS_BUCKET },
    queues: {
      interactive: { client: sqs, url: env.INTERACTIVE_QUEUE_URL },
      bulk: { client: sqs, url: env.BULK_QUEUE_URL },
    },
    limits: { maxBytes, maxRows, maxColumns, maxFieldCharacters },
    chunkRows,
    prompt: {
      inputCharacters: env.PROMPT.maxInputCharacters,
      outputTokens: env.PROMPT.maxOutputTokens,
    },
    prices: env.MODEL.prices,
    now: Date.now,
  };
});

// Done for each record.

async function processMessage({ body, deadline }: Delivery): Promise<void> {
  for (const job of parseJobs(body)) {
    const outcome = await processJob(job, deadline);
    logger.info('job', { ...job, outcome });
  }
}

async function processJob(job: ImportJob, deadline: number): Promise<unknown> {
  switch (job.kind) {
    case 'read': {
      const outcome = await readSource(desk(), job, deadline);
      if (outcome.kind === 'read') metrics.addMetric('RowsRead', MetricUnit.Count, outcome.rows);
      if (outcome.kind === 'refused') metrics.addMetric('ImportsRefused', MetricUnit.Count, 1);
      return outcome;
    }
    case 'send': {
      const sent = await sendAll(desk(), job.importId);
      metrics.addMetric('ChunksSent', MetricUnit.Count, sent);
      return { sent };
    }
    case 'export':
      return await writeExport(desk(), job);
  }
}
