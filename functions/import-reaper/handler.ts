import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { createEmitter } from '../../shared/metrics/emitter.ts';
import { SUMMARY_METRICS } from '../../shared/metrics/summaries.ts';
import { createDynamo, createS3, createSqs } from '../../shared/runtime/clients.ts';
import { publishMetrics } from '../../shared/runtime/metrics.ts';
import { once } from '../../shared/runtime/once.ts';
import { readEnv } from './env.ts';
import { lookAfter } from './look-after.ts';
import type { Finding, Reaper } from './reap-import.ts';

const logger = new Logger();
const metrics = createEmitter(SUMMARY_METRICS);

/** Milliseconds of the function's time that the last import may take. */
const NEEDS = 10_000;

// Called by AWS: a schedule, each minute.

export const handler = middy()
  .use(injectLambdaContext(logger))
  .use(publishMetrics(metrics))
  .handler(async (_event: unknown, context) => {
    const { running, stalled } = await lookAfter(reaper(), {
      until: Date.now() + context.getRemainingTimeInMillis() - NEEDS,
      sleep,
      found: report,
      failed: (importId, error) =>
        logger.error('an import could not be looked after', { importId, error }),
    });
    metrics.add('ImportsRunning', running);
    metrics.add('ImportsStalled', stalled);
  });

// Built on cold start.

const reaper = once((): Reaper => {
  const env = readEnv();
  const sqs = createSqs();
  return {
    table: { client: createDynamo(), name: env.IMPORTS_TABLE },
    bucket: { client: createS3(), name: env.IMPORTS_BUCKET },
    queues: {
      interactive: { client: sqs, url: env.INTERACTIVE_QUEUE_URL },
      bulk: { client: sqs, url: env.BULK_QUEUE_URL },
    },
    jobs: { client: sqs, url: env.JOBS_QUEUE_URL },
    resends: env.STALLED.resends,
    quietMs: {
      interactive: env.STALLED.quietMinutes.interactive * 60_000,
      bulk: env.STALLED.quietMinutes.bulk * 60_000,
    },
    now: Date.now,
  };
});

function report(importId: string, finding: Finding): void {
  if (finding.kind === 'completed') metrics.add('ImportsCompleted', 1);
  logger.warn('an import had stalled', { importId, ...finding });
}
