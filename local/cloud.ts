import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import {
  type CloudEndpoints,
  DEVELOPER_KEYS,
  describeEndpoints,
  FUNCTION_KEYS,
} from './endpoints.ts';
import { createAwsJson } from './engines/aws-json.ts';
import { createBuckets, createQueues, createTables } from './engines/create.ts';
import { type Engines, startEngines } from './engines/engines.ts';
import { environmentOf } from './functions/environment.ts';
import { type Log, openLog } from './functions/log-file.ts';
import {
  createPool,
  type FunctionCounts,
  type FunctionPool,
  type Invoked,
} from './functions/pool.ts';
import { createSlots } from './functions/slots.ts';
import { createEngine } from './gateway/engine.ts';
import { openJournal } from './gateway/journal.ts';
import { createNotifications, reconcile } from './gateway/notifications.ts';
import { createS3Gateway } from './gateway/s3-gateway.ts';
import { createVerifier } from './gateway/sigv4.ts';
import { createSqsFront } from './gateway/sqs-front.ts';
import { createStore } from './gateway/store.ts';
import { createHttpApi } from './http-api/http-api.ts';
import { startMapping } from './mappings/mapping.ts';
import { createPage } from './page.ts';
import { listen } from './servers.ts';
import { takeState } from './state.ts';
import { synthesise } from './synthesis.ts';
import { readAssets } from './template/assets.ts';
import { readTemplate } from './template/read.ts';
import { planStack, type QueuePlan, type StackPlan } from './template/stack.ts';

export interface LocalCloudOptions {
  /** The project's folder. */
  root: string;
  /** Where objects, items, messages and logs are kept. */
  stateDir: string;
  /** The first of five ports; 0 for any. */
  port?: number;
  /** A folder that `cdk synth` (with `-c local=true`) has written; made here if there is none. */
  cdkOut?: string;
  /** Forget what the state folder holds. */
  reset?: boolean;
  /** Told of each step when it is done. */
  progress?: (step: string, milliseconds: number) => void;
  /** Sees all that functions write, too. */
  onLog?: (functionName: string, text: string) => void;
  environment?: NodeJS.ProcessEnv;
}

export interface LocalCloud {
  readonly endpoints: CloudEndpoints;
  /** Settles, with a sentence, if the engines end by themselves; then only `stop` is left to do. */
  readonly failed: Promise<string>;
  /** By physical name, such as `endpoints.functions.ThumbnailsWorker`. */
  invoke(functionName: string, event: unknown): Promise<Invoked>;
  counts(functionName: string): Readonly<FunctionCounts>;
  /** Kills what a function runs now, as a crash would; answers how many processes that were. */
  killFunction(functionName: string): number;
  stop(): Promise<void>;
}

/** Runs the stack on this machine. @throws one sentence that says what is wrong and what to do. */
export async function startLocalCloud(options: LocalCloudOptions): Promise<LocalCloud> {
  const stops: (() => unknown)[] = [];
  const stop = once(async () => {
    // What takes requests goes first, what they need last.
    while (stops.length > 0) await stops.pop()?.();
  });
  try {
    return await start(options, stops, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  options: LocalCloudOptions,
  stops: (() => unknown)[],
  stop: () => Promise<void>,
): Promise<LocalCloud> {
  const { root, stateDir, port = 0 } = options;
  const timed = stepper(options.progress);

  const state = takeState(stateDir, options.reset ?? false);
  stops.push(() => state.release());

  const at = (offset: number) => (port === 0 ? 0 : port + offset);
  const servers = [
    await listen(at(0), 'the web page'),
    await listen(at(1), 'the API'),
    await listen(at(2), 'S3'),
    await listen(at(3), 'SQS'),
  ] as const;
  const [web, api, s3, sqs] = servers;
  stops.push(() => servers.map((server) => server.stop()));

  // Both take seconds, and neither needs the other.
  const enginesReady = timed('engines', () =>
    startEngines({
      stateDir,
      dynamodbPort: at(4),
      environment: options.environment ?? process.env,
    }),
  );
  enginesReady.then((engines) => stops.push(() => engines.stop())).catch(() => {});
  const cdkOut =
    options.cdkOut ??
    (await timed('synthesis', async () => (await synthesise(root)).cdkOut, enginesReady));

  const stackName = stackIn(cdkOut);
  const input: unknown = JSON.parse(
    readFileSync(join(cdkOut, `${stackName}.template.json`), 'utf8'),
  );
  const origins = { sqs: sqs.origin, api: api.origin };
  const template = readTemplate(input, stackName, origins);
  const plan = planStack(template, await readAssets(cdkOut, stackName));
  const engines = await enginesReady;
  await timed('resources', () => createResources(engines, plan));

  const queues = createAwsJson(engines.fauxqs);
  const engine = createEngine(engines.fauxqs);
  const journal = openJournal(join(stateDir, 'notifications.jsonl'));
  const notifications = createNotifications({
    buckets: plan.buckets,
    queues: plan.queues,
    sqs: queues,
    journal,
  });
  stops.push(() => notifications.stop());
  await reconcile(journal.leftOver, engine, notifications);

  const endpoints = describeEndpoints(
    {
      web: web.origin,
      api: api.origin,
      s3: s3.origin,
      sqs: sqs.origin,
      dynamodb: engines.dynamodb,
    },
    plan,
  );
  const pools = createPools(plan, endpoints, options, stops);
  const mappings = plan.mappings.map((mapping) => {
    const queue = plan.queues.find(({ arn }) => arn === mapping.queueArn);
    const pool = pools.get(mapping.functionName);
    if (queue === undefined || pool === undefined) {
      throw new Error(
        `A mapping joins ${mapping.queueArn} to ${mapping.functionName}, and the template lacks one.`,
      );
    }
    const deadLetterSourceArn = soleSource(plan.queues, queue);
    return startMapping({ plan: mapping, queue, deadLetterSourceArn, pool, sqs: queues });
  });
  stops.push(async () => {
    const ended = mappings.map((mapping) => mapping.stop());
    for (const pool of pools.values()) pool.stop();
    await Promise.all(ended);
  });

  const verifier = createVerifier([DEVELOPER_KEYS, FUNCTION_KEYS]);
  const store = createStore(engine, notifications);
  s3.serve(createS3Gateway({ buckets: plan.buckets, engine, store, verifier }));
  sqs.serve(createSqsFront(engines.fauxqs, () => sqs.origin));
  web.serve(createPage(endpoints));
  const [httpApi, another] = plan.apis;
  if (another !== undefined)
    throw new Error('The local cloud runs one HTTP API, and the template has more.');
  if (httpApi !== undefined) api.serve(createHttpApi(httpApi, pools));
  writeFileSync(join(stateDir, 'endpoints.json'), `${JSON.stringify(endpoints, undefined, 2)}\n`);

  const poolOf = (name: string): FunctionPool => {
    const pool = pools.get(name);
    if (pool === undefined) throw new Error(`There is no function ${name}.`);
    return pool;
  };
  return {
    endpoints,
    failed: engines.failed,
    invoke: (name, event) => poolOf(name).invoke(JSON.stringify(event)),
    counts: (name) => poolOf(name).counts,
    killFunction: (name) => poolOf(name).killRunning(),
    stop,
  };
}

/** The one stack that was synthesised there. */
function stackIn(cdkOut: string): string {
  const end = '.template.json';
  const [name, another] = readdirSync(cdkOut).filter((file) => file.endsWith(end));
  if (name === undefined || another !== undefined) {
    throw new Error(`Expected one *${end} in ${cdkOut}.`);
  }
  return name.slice(0, -end.length);
}

async function createResources(engines: Engines, plan: StackPlan): Promise<void> {
  await Promise.all([
    createBuckets(engines.fauxqs, plan.buckets),
    createQueues(createAwsJson(engines.fauxqs), plan.queues),
    createTables(createAwsJson(engines.dynamodb), plan.tables),
  ]);
}

/** Functions without a reservation share so many processes a core. */
const UNRESERVED_PER_CORE = 4;

function createPools(
  plan: StackPlan,
  endpoints: CloudEndpoints,
  { stateDir, onLog }: LocalCloudOptions,
  stops: (() => unknown)[],
): Map<string, FunctionPool> {
  const unreserved = createSlots(UNRESERVED_PER_CORE * availableParallelism());
  return new Map(
    plan.functions.map((fn) => {
      const path = join(stateDir, 'logs', `${fn.name}.log`);
      const log: Log = openLog(path, onLog && ((text) => onLog(fn.name, text)));
      stops.push(() => log.close());
      const environment = environmentOf(fn, endpoints, FUNCTION_KEYS);
      return [fn.name, createPool(fn, environment, log, unreserved)];
    }),
  );
}

/** AWS tells a dead letter's reader which queue it comes from. */
function soleSource(queues: readonly QueuePlan[], queue: QueuePlan): string | undefined {
  const sources = queues.filter(({ deadLetterArn }) => deadLetterArn === queue.arn);
  return sources.length === 1 ? sources[0]?.arn : undefined;
}

function stepper(progress: LocalCloudOptions['progress']) {
  return async <T>(
    step: string,
    work: () => Promise<T>,
    alongside?: Promise<unknown>,
  ): Promise<T> => {
    const started = performance.now();
    // What fails alongside ends the start at once, not after the longer of the two.
    const failing = alongside?.then(() => new Promise<never>(() => {}));
    const result = await (failing === undefined ? work() : Promise.race([work(), failing]));
    progress?.(step, performance.now() - started);
    return result;
  };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => {
    result ??= work();
    return result;
  };
}
