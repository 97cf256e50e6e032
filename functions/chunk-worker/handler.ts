import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@aws-lambda-powertools/logger';
import { createAllowance } from '../../shared/fleet/allowance.ts';
import { openLine } from '../../shared/fleet/line.ts';
import { createTrueTime } from '../../shared/fleet/true-time.ts';
import { addUsage, type Usage } from '../../shared/fleet/usage-item.ts';
import { parseChunkWork } from '../../shared/messages/chunk-work.ts';
import { createEmitter } from '../../shared/metrics/emitter.ts';
import { SUMMARY_METRICS } from '../../shared/metrics/summaries.ts';
import { createDynamo, createS3, createSqs, readSecret } from '../../shared/runtime/clients.ts';
import { once } from '../../shared/runtime/once.ts';
import { type Delivery, queueHandler } from '../../shared/runtime/queue-stack.ts';
import { retryDelay } from '../../shared/runtime/retry-delay.ts';
import { createProvider } from '../../shared/summaries/create-provider.ts';
import type { Provider } from '../../shared/summaries/provider.ts';
import { NoKeyError } from '../../shared/summaries/provider-error.ts';
import { readEnv } from './env.ts';
import { createGate } from './gate.ts';
import { createMeter } from './meter.ts';
import { summariseChunk } from './summarise-chunk.ts';
import type { Workbench } from './workbench.ts';
import { createYielding } from './yielding.ts';

const logger = new Logger();
const metrics = createEmitter(SUMMARY_METRICS);

/** The last calls of an import are to be seen too: nothing is written while a process is frozen. */
const WRITE_AT_THE_END_MS = 3000;

// Called by AWS: the queue of its mode, through its event source mapping.

export const handler = queueHandler({
  logger,
  metrics,
  process: processMessage,
  about: parseChunkWork,
  begin: () => workbench().gate.reset(),
  // The gate bounds what they do together; a chunk's last rows leave room for the next one's first.
  atOnce: true,
  needsMs: 0,
  retry: {
    sqs: once(createSqs),
    queueUrl: () => environment().QUEUE_URL,
    delayMs: (_error, attempt) => retryDelay(attempt, Math.random),
  },
});

// Built on cold start.

const environment = once(readEnv);

const workbench = once((): Workbench => {
  const env = environment();
  const time = createTrueTime(Date.now);
  const dynamo = createDynamo(time.heard);
  const fleet = { client: dynamo, name: env.FLEET_TABLE };
  const allowance = createAllowance({
    settings: env.ALLOWANCE,
    mode: env.MODE,
    line: openLine(fleet, env.ALLOWANCE.line),
    time,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    random: Math.random,
    onStoreError: (error) =>
      logger.warn('the allowance is not to be had, so that calls wait', { error: named(error) }),
  });
  return {
    table: { client: dynamo, name: env.IMPORTS_TABLE },
    bucket: { client: createS3(), name: env.IMPORTS_BUCKET },
    queue: { client: createSqs(), url: env.QUEUE_URL },
    provider: onceAnswered(openProvider),
    limits: {
      inputCharacters: env.PROMPT.maxInputCharacters,
      outputTokens: env.PROMPT.maxOutputTokens,
    },
    prices: env.MODEL.prices,
    callTimeoutMs: env.PROVIDER.callTimeoutMs,
    gate: createGate(env.GATE),
    allowance,
    yielding: createYielding(env.ALLOWANCE.reserve),
    meter: createMeter({
      write: (usage, at, told) => {
        metrics.addAt(at, metricsOf(usage), { mode: env.MODE });
        return addUsage(fleet, env.MODE, usage, at, told);
      },
      called: (serviceMs) => metrics.add('ServiceTime', serviceMs, { mode: env.MODE }),
      storeOps: () => allowance.storeOps,
      now: time.now,
      random: Math.random,
      onError: (error) => logger.warn('the usage was not written', { error: named(error) }),
    }),
    now: Date.now,
    sleep,
    random: Math.random,
    completed: ({ importId }) => {
      metrics.add('ImportsCompleted', 1);
      logger.info('an import is complete', { importId });
    },
    // By code: what a row or an answer says is text of the catalogue.
    rowFailed: (place, code) => logger.warn('a row failed', { ...place, code }),
    callFailed: (place, code, error) =>
      logger.warn('a call failed', { ...place, code, ...toldOf(error, code) }),
  };
});

/** What was done, as it is measured too: by the item in which it was done, however long a chunk takes. */
function metricsOf(usage: Usage) {
  return {
    Calls: usage.calls,
    CallsRefused: usage.refused,
    CallsFailed: usage.failed,
    InputTokens: usage.inputTokens,
    OutputTokens: usage.outputTokens,
    CallTime: usage.serviceMs,
    GateWait: usage.gateMs,
    AllowanceWait: usage.allowanceMs,
    YieldWait: usage.yieldMs,
    RefusedWait: usage.refusedMs,
  };
}

/**
 * Of an error that is known its code says all. Whatever hangs on one that is not, such as the request,
 * is text of the catalogue, and headers hold keys: what it says and where it was thrown is enough.
 */
function toldOf({ name, message, stack, cause }: Error, code: string): object {
  if (code !== 'unknown') return {};
  const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined;
  return { error: { name, message, stack, ...(why === undefined ? {} : { cause: why }) } };
}

function named(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

async function openProvider(): Promise<Provider> {
  const { PROVIDER, PROVIDER_KEY_PARAMETER: parameter } = environment();
  if (parameter === undefined) return await createProvider(PROVIDER, undefined);
  let key: string;
  try {
    key = await readSecret(parameter);
  } catch (cause) {
    throw new NoKeyError(
      `The provider's key could not be read: ask whoever runs Glimpse to put it into the SecureString ${parameter}, then resume`,
      { cause },
    );
  }
  return await createProvider(PROVIDER, key);
}

/** Built once for all who ask, and again after it has failed. */
function onceAnswered<T>(open: () => Promise<T>): () => Promise<T> {
  let opening: Promise<T> | undefined;
  return () => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
}

// Done for each record.

async function processMessage({ body, deadline }: Delivery): Promise<void> {
  const work = parseChunkWork(body);
  const started = performance.now();
  const outcome = await summariseChunk(workbench(), work, deadline);
  await workbench().meter.writeAll(WRITE_AT_THE_END_MS);
  const mode = { mode: environment().MODE };
  if (outcome.kind === 'settled') {
    metrics.add('RowsDone', outcome.done, mode);
    metrics.add('RowsFailed', outcome.failed, mode);
    metrics.add('ChunkDuration', performance.now() - started, mode);
  }
  if (outcome.kind === 'handed-back') metrics.add('ChunksHandedBack', 1, mode);
  logger.info('chunk', { ...work, ...outcome });
}
