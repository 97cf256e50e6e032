import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import middy from '@middy/core';
import { activeImports } from '../../shared/imports/create-import.ts';
import { createDynamo, createS3, createSqs } from '../../shared/runtime/clients.ts';
import { publishMetrics } from '../../shared/runtime/metrics.ts';
import { once } from '../../shared/runtime/once.ts';
import { readEnv } from './env.ts';
import { type Finding, type Reaper, reapImport } from './reap-import.ts';

const logger = new Logger();
const metrics = new Metrics();

/** Milliseconds of the function's time that the last import may take. */
const NEEDS = 10_000;

// Called by AWS: a schedule, each minute.

export const handler = middy()
  .use(injectLambdaContext(logger))
  .use(publishMetrics(metrics))
  .handler(async (_event: unknown, context) => {
    let stalled = 0;
    for await (const importId of activeImports(reaper().table)) {
      // The next run begins where the index begins, and what was stalled is less then.
      if (context.getRemainingTimeInMillis() < NEEDS) break;
      try {
        const findings = await reapImport(reaper(), importId);
        for (const finding of findings) report(importId, finding);
        if (findings.length > 0) stalled += 1;
      } catch (error) {
        // One import must not keep the reaper from the others.
        logger.error('an import could not be looked after', { importId, error });
      }
    }
    metrics.addMetric('ImportsStalled', MetricUnit.Count, stalled);
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
  if (finding.kind === 'completed') metrics.addMetric('ImportsCompleted', MetricUnit.Count, 1);
  logger.warn('an import had stalled', { importId, ...finding });
}
