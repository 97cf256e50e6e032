import type { PlanInput } from '../shared/fleet/plan-input.ts';

/** 83.3 calls a second of 0.8 s: interactive work has 4 × 10 places, bulk work 9 × 10. */
export const PLAN_INPUT: PlanInput = {
  account: { requestsPerMinute: 5000, tokensPerMinute: 2_000_000 },
  measured: { serviceSeconds: 0.8, tokensPerCall: 350 },
  headroom: 2,
  interactiveShare: 0.3,
  reserve: 0.1,
  callTimeoutSeconds: 30,
  chunkRows: 50,
  workerTimeoutSeconds: 120,
  largestCallTokens: 12_000,
  accountConcurrency: 1000,
  othersConcurrency: 19,
  reserved: true,
  interactive: { batchChunks: 1 },
  bulk: { batchChunks: 4 },
};
