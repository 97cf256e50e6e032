import { randomUUID } from 'node:crypto';
import { Logger } from '@aws-lambda-powertools/logger';
import { MalformedMessageError } from '../../shared/errors.ts';
import { type ChunkWork, parseChunkWork } from '../../shared/messages/chunk-work.ts';
import { parseJobs } from '../../shared/messages/import-job.ts';
import { createEmitter } from '../../shared/metrics/emitter.ts';
import { SUMMARY_METRICS } from '../../shared/metrics/summaries.ts';
import { createDynamo, createS3 } from '../../shared/runtime/clients.ts';
import { once } from '../../shared/runtime/once.ts';
import { type Delivery, queueHandler } from '../../shared/runtime/queue-stack.ts';
import { closeDeadChunk, closeDeadJob } from './close-dead-letter.ts';
import { readEnv } from './env.ts';

const logger = new Logger();
const metrics = createEmitter(SUMMARY_METRICS);

// Called by AWS: the dead-letter queues of the jobs and of both chunk queues.

export const handler = queueHandler({
  logger,
  metrics,
  process: processMessage,
  about: (body) => chunkWorkOf(body) ?? { jobs: parseJobs(body) },
  needsMs: 10_000,
});

// Built on cold start.

const places = once(() => {
  const env = readEnv();
  return {
    table: { client: createDynamo(), name: env.IMPORTS_TABLE },
    bucket: { client: createS3(), name: env.IMPORTS_BUCKET },
    now: Date.now,
  };
});

// Done for each record.

async function processMessage({ body }: Delivery): Promise<void> {
  const closer = { ...places(), worker: randomUUID() };
  const chunk = chunkWorkOf(body);
  if (chunk !== undefined) {
    const outcome = await closeDeadChunk(closer, chunk);
    metrics.add('ChunksGivenUp', 1);
    if (outcome.kind === 'closed' && outcome.completed) {
      metrics.add('ImportsCompleted', 1);
    }
    logger.error('a chunk was given up', { ...chunk, outcome });
    return;
  }
  for (const job of parseJobs(body)) {
    const outcome = await closeDeadJob(closer, job);
    metrics.add('JobsGivenUp', 1);
    logger.error('a job was given up', { ...job, outcome });
  }
}

function chunkWorkOf(body: string): ChunkWork | undefined {
  try {
    return parseChunkWork(body);
  } catch (error) {
    if (error instanceof MalformedMessageError) return undefined;
    throw error;
  }
}
