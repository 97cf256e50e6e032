import type { MiddlewareObj } from '@middy/core';

/** What an invocation measured, until it is published. */
export interface Measured {
  hasStoredMetrics(): boolean;
  publishStoredMetrics(): void;
}

/** Publishes what an invocation measured. Powertools' own middleware warns where that is nothing. */
export function publishMetrics(metrics: Measured): MiddlewareObj {
  const publish = () => {
    if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
  };
  return { after: publish, onError: publish };
}
