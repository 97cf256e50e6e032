import type { Metrics } from '@aws-lambda-powertools/metrics';
import type { MiddlewareObj } from '@middy/core';

/** Publishes what an invocation measured. Powertools' own middleware warns where that is nothing. */
export function publishMetrics(metrics: Metrics): MiddlewareObj {
  const publish = () => {
    if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
  };
  return { after: publish, onError: publish };
}
