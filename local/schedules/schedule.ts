import { randomUUID } from 'node:crypto';
import { ACCOUNT, REGION } from '../template/intrinsics.ts';
import type { SchedulePlan } from '../template/stack.ts';

export interface Schedule {
  /** Runs no more. What runs now is not ended by it, but waited for. */
  stop(): Promise<void>;
}

/**
 * Calls a function again and again, first one interval from now. A run that would begin while the
 * last one goes on is left out, and one that failed is not repeated.
 */
export function startSchedule(
  plan: SchedulePlan,
  invoke: (event: string) => Promise<unknown>,
): Schedule {
  let running: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    if (running !== undefined) return;
    running = invoke(JSON.stringify(scheduledEvent(plan.arn, new Date())))
      .catch(() => {})
      .finally(() => {
        running = undefined;
      });
  }, plan.everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** https://docs.aws.amazon.com/lambda/latest/dg/with-eventbridge-scheduler.html */
function scheduledEvent(ruleArn: string, now: Date): object {
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account: ACCOUNT,
    time: now.toISOString().replace(/\.\d+Z$/, 'Z'),
    region: REGION,
    resources: [ruleArn],
    detail: {},
  };
}
