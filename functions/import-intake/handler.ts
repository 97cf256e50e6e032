import { Logger } from '@aws-lambda-powertools/logger';
import { type ImportJob, parseJobs } from '../../shared/messages/import-job.ts';
import { createEmitter } from '../../shared/metrics/emitter.ts';
import { SUMMARY_METRICS } from '../../shared/metrics/summaries.ts';
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
const metrics = createEmitter(SUMMARY_METRICS);

// Called by AWS: the jobs queue, to which S3 tells of sources and the API of what it is asked for.

export const handler = queueHandler({
  logger,
  metrics,
  process: processMessage,
  about: (body) => ({ jobs: parseJobs(body) }),
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
      if (outcome.kind === 'read') metrics.add('RowsRead', outcome.rows);
      if (outcome.kind === 'refused') metrics.add('ImportsRefused', 1);
      return outcome;
    }
    case 'send': {
      const sent = await sendAll(desk(), job.importId);
      metrics.add('ChunksSent', sent);
      return { sent };
    }
    case 'export':
      return await writeExport(desk(), job);
  }
}
