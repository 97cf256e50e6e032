import { randomUUID } from 'node:crypto';
import type { Orphanage } from '../engines/engines.ts';
import type { FunctionMeter } from '../metrics/service-metrics.ts';
import type { FunctionPlan } from '../template/stack.ts';
import { type Instance, type Outcome, STOPPED, startInstance } from './instance.ts';
import type { Log } from './log-file.ts';
import type { Slots } from './slots.ts';

/** As `Outcome`, or throttled: at its reserved concurrency, nothing was run. */
export type Invoked = Outcome | { readonly kind: 'throttled' };

export interface FunctionCounts {
  invocations: number;
  errors: number;
  throttles: number;
  running: number;
  mostAtOnce: number;
}

/** A function: its processes, kept warm, and no more of them at once than its reserved concurrency. */
export interface FunctionPool {
  readonly plan: FunctionPlan;
  readonly counts: Readonly<FunctionCounts>;
  invoke(event: string): Promise<Invoked>;
  /** Starts a process ahead of the first call, unless there is one. */
  warmUp(): void;
  /** Kills the processes that run now, as a crash would; answers how many there were. */
  killRunning(most?: number): number;
  /** Has what runs now begin nothing more that would end after this. @param deadline epoch milliseconds */
  hurry(deadline: number): void;
  stop(): void;
}

/** AWS keeps an idle sandbox for some minutes. */
const IDLE_MS = 120_000;

/** What pools share. */
export interface PoolSlots {
  /** Of calls of functions without a reservation. */
  unreserved: Slots;
  /** Of processes that load at once, of functions that queues feed. */
  starts: Slots;
}

export function createPool(
  plan: FunctionPlan,
  environment: Record<string, string>,
  log: Log,
  { unreserved, starts }: PoolSlots,
  orphanage: Orphanage,
  meter: FunctionMeter,
): FunctionPool {
  const idle: { instance: Instance; since: number }[] = [];
  const running = new Set<Instance>();
  const counts = { invocations: 0, errors: 0, throttles: 0, running: 0, mostAtOnce: 0 };
  const reaper = setInterval(() => {
    while (idle[0] !== undefined && idle[0].since < Date.now() - IDLE_MS) {
      idle.shift()?.instance.kill();
    }
  }, 10_000).unref();

  let stopped = false;
  const takeIdle = (): Instance | undefined => {
    // The one used last: the others then grow idle long enough to be ended.
    for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
      if (last.instance.alive) return last.instance;
    }
    return undefined;
  };
  const start = (): Instance => {
    const instance = startInstance(plan, environment, log, orphanage);
    running.add(instance);
    return instance;
  };
  /** Nothing, once the pool was stopped. */
  const take = async (): Promise<Instance | undefined> => {
    const warm = takeIdle();
    if (warm !== undefined) return warm;
    if (!plan.queueDriven) return start();
    // All at once, each would be ready when the last of them is.
    return await starts.with(async () => {
      if (stopped) return undefined;
      const instance = takeIdle() ?? start();
      await instance.loaded;
      return instance;
    });
  };

  const run = async (event: string): Promise<Outcome> => {
    counts.invocations += 1;
    counts.running += 1;
    counts.mostAtOnce = Math.max(counts.mostAtOnce, counts.running);
    meter.began(counts.running);
    let started = performance.now();
    let failed = true;
    let instance: Instance | undefined;
    try {
      instance = await take();
      if (instance === undefined) return STOPPED;
      running.add(instance);
      // AWS measures from the handler's call on.
      await instance.loaded;
      started = performance.now();
      const outcome = await instance.run({
        requestId: randomUUID(),
        event,
        arn: plan.arn,
      });
      failed = outcome.kind === 'error';
      if (failed) counts.errors += 1;
      return outcome;
    } finally {
      meter.ended(performance.now() - started, failed);
      counts.running -= 1;
      if (instance !== undefined) running.delete(instance);
      if (instance?.alive) idle.push({ instance, since: Date.now() });
    }
  };

  return {
    plan,
    counts,
    async invoke(event) {
      if (plan.reservedConcurrency === undefined) return unreserved.with(() => run(event));
      if (counts.running < plan.reservedConcurrency) return run(event);
      counts.throttles += 1;
      meter.throttled();
      return { kind: 'throttled' };
    },
    warmUp() {
      const begin = async () => {
        if (stopped || running.size > 0 || idle.some(({ instance }) => instance.alive)) return;
        const instance = startInstance(plan, environment, log, orphanage);
        idle.push({ instance, since: Date.now() });
        await instance.loaded;
      };
      void (plan.queueDriven ? starts.with(begin) : begin());
    },
    killRunning(most = Number.POSITIVE_INFINITY) {
      const victims = [...running].slice(0, most);
      for (const instance of victims) instance.kill();
      return victims.length;
    },
    hurry(deadline) {
      for (const instance of running) instance.hurry(deadline);
    },
    stop() {
      stopped = true;
      clearInterval(reaper);
      for (const instance of [...running, ...idle.map((entry) => entry.instance)]) instance.stop();
    },
  };
}
