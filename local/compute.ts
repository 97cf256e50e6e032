import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Disk } from './disk.ts';
import type { CloudEndpoints } from './endpoints.ts';
import { type AwsJson, AwsJsonError } from './engines/aws-json.ts';
import type { Orphanage } from './engines/engines.ts';
import { environmentOf } from './functions/environment.ts';
import { type Log, openLog } from './functions/log-file.ts';
import { createPool, type FunctionPool } from './functions/pool.ts';
import { createSlots } from './functions/slots.ts';
import type { Authority, Caller } from './iam/authority.ts';
import type { Identities } from './iam/identities.ts';
import type { MayInvoke } from './iam/invocations.ts';
import { startMapping } from './mappings/mapping.ts';
import type { ServiceMetrics } from './metrics/service-metrics.ts';
import { startSchedule } from './schedules/schedule.ts';
import type { FunctionPlan, QueuePlan, StackPlan } from './template/stack.ts';

/** The functions, and the mappings and schedules that call them. */
export interface Compute {
  /** By physical name. */
  readonly pools: ReadonlyMap<string, FunctionPool>;
  /** Starts a process of each function that reads what this one may send, as it is likely to be called soon. */
  warmUpBehind(functionName: string): void;
  /** @param graceMs in which what mappings and schedules have begun may end by itself */
  stop(graceMs?: number): Promise<void>;
}

export interface ComputeOptions {
  plan: StackPlan;
  endpoints: CloudEndpoints;
  stateDir: string;
  disk: Disk;
  /** Sees all that functions write, too. */
  onLog: (functionName: string, text: string) => void;
  sqs: AwsJson;
  metrics: ServiceMetrics;
  orphanage: Orphanage;
  identities: Identities;
  authority: Authority;
  /** Whether schedules may invoke a function. */
  mayInvoke: MayInvoke;
}

/** Functions without a reservation share so many processes a core: their work is the processor's. */
const UNRESERVED_PER_CORE = 2;

/**
 * Whoever tries the first picture should not wait for a process to start. An import's functions can
 * start once somebody begins one, while a file is chosen and uploaded, read and looked at; what reads
 * dead letters, once there is one.
 */
const startsAhead = ({ logicalId, name }: FunctionPlan, { mappings, queues }: StackPlan): boolean =>
  !logicalId.startsWith('Summaries') &&
  !mappings.some(
    ({ functionName, queueArn }) =>
      functionName === name && queues.some(({ deadLetterArn }) => deadLetterArn === queueArn),
  );

export function startCompute(options: ComputeOptions): Compute {
  const { plan, endpoints, stateDir, disk, onLog, sqs, metrics, orphanage } = options;
  const { identities, authority } = options;
  const slots = {
    unreserved: createSlots(UNRESERVED_PER_CORE * availableParallelism()),
    starts: createSlots(availableParallelism()),
  };
  const logs = plan.functions.map(({ name }) =>
    openLog(join(stateDir, 'logs', `${name}.log`), disk.attempt, (text) => onLog(name, text)),
  );
  const pools = new Map(
    plan.functions.map((fn, index) => {
      const environment = environmentOf(fn, endpoints, identities.keysOf(fn.name));
      const log = permitted(fn, logs[index], authority);
      const meter = metrics.functionMeter(fn.name);
      return [fn.name, createPool(fn, environment, log, slots, orphanage, meter)] as const;
    }),
  );
  for (const pool of pools.values()) if (startsAhead(pool.plan, plan)) pool.warmUp();
  const warmUpBehind = (functionName: string): void => {
    for (const name of functionsBehind(plan, functionName)) pools.get(name)?.warmUp();
  };
  const mappings = plan.mappings.map((mapping) => {
    const queue = plan.queues.find(({ arn }) => arn === mapping.queueArn);
    const pool = pools.get(mapping.functionName);
    if (queue === undefined || pool === undefined) {
      throw new Error(
        `A mapping joins ${mapping.queueArn} to ${mapping.functionName}, and the template lacks one.`,
      );
    }
    const deadLetterSourceArn = soleSource(plan.queues, queue);
    const called = () => warmUpBehind(mapping.functionName);
    const asRole = inTheNameOf(callerOf(pool.plan), queue.arn, sqs, authority);
    return startMapping({ plan: mapping, queue, deadLetterSourceArn, pool, sqs: asRole, called });
  });
  const schedules = plan.schedules.map((schedule) => {
    const pool = pools.get(schedule.functionName);
    if (pool === undefined) {
      throw new Error(`A schedule calls ${schedule.functionName}, which the template lacks.`);
    }
    const { functionName, arn } = schedule;
    return startSchedule(schedule, async (event) => {
      if (options.mayInvoke(functionName, arn)) await pool.invoke(event);
    });
  });
  return {
    pools,
    warmUpBehind,
    async stop(graceMs = 0) {
      const ended = Promise.all([...mappings, ...schedules].map((caller) => caller.stop()));
      if (graceMs > 0) {
        for (const pool of pools.values()) pool.hurry(Date.now() + graceMs);
        await Promise.race([ended, sleep(graceMs)]);
      }
      for (const pool of pools.values()) pool.stop();
      await ended;
      for (const log of logs) log.close();
    },
  };
}

function callerOf({ name, roleArn }: FunctionPlan): Caller {
  return { kind: 'function', functionName: name, roleArn };
}

const WRITES_LOGS = ['logs:CreateLogStream', 'logs:PutLogEvents'];

/** A log that keeps what its function's role may write: what it may not, AWS loses without a word. */
function permitted(fn: FunctionPlan, log: Log | undefined, authority: Authority): Log {
  let may: boolean | undefined;
  return {
    write(text) {
      may ??= WRITES_LOGS.every(
        (action) => authority.refusal(callerOf(fn), { action, resource: fn.logArn }) === undefined,
      );
      if (may) log?.write(text);
    },
    close: () => log?.close(),
  };
}

/** What a mapping's pollers call, Lambda calls by the function's role. */
function inTheNameOf(
  caller: Caller,
  resource: string,
  sqs: AwsJson,
  authority: Authority,
): AwsJson {
  return (operation, input, signal) => {
    const action = `sqs:${operation.replace(/^AmazonSQS\.|Batch$/g, '')}`;
    const refusal = authority.refusal(caller, { action, resource });
    if (refusal !== undefined) throw new AwsJsonError(operation, 'AccessDenied', refusal);
    return sqs(operation, input, signal);
  };
}

/** Those that are called next when a function was: of what it may send to, none that comes after another. */
function functionsBehind(plan: StackPlan, name: string): string[] {
  const readers = readersOf(plan, name);
  const later = new Set(
    readers.flatMap((reader) => readersOf(plan, reader).filter((next) => next !== reader)),
  );
  return readers.filter((reader) => !later.has(reader));
}

/** Those that read the queues that a function's variables name. */
function readersOf({ functions, queues, mappings }: StackPlan, name: string): string[] {
  const variables = Object.values(functions.find((fn) => fn.name === name)?.environment ?? {});
  const sentTo = queues.filter(({ url }) => variables.includes(url)).map(({ arn }) => arn);
  return mappings
    .filter(({ queueArn }) => sentTo.includes(queueArn))
    .map(({ functionName }) => functionName);
}

/** AWS tells a dead letter's reader which queue it comes from. */
function soleSource(queues: readonly QueuePlan[], queue: QueuePlan): string | undefined {
  const sources = queues.filter(({ deadLetterArn }) => deadLetterArn === queue.arn);
  return sources.length === 1 ? sources[0]?.arn : undefined;
}
