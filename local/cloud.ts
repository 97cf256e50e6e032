import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCompute } from './compute.ts';
import { createDashboards } from './dashboards/dashboards.ts';
import { startFailure, watchDisk } from './disk.ts';
import { type CloudEndpoints, DEVELOPER_KEYS, describeEndpoints } from './endpoints.ts';
import { createAwsJson } from './engines/aws-json.ts';
import { createBuckets, createQueues, createTables } from './engines/create.ts';
import { endLeftOver } from './engines/dynoxide.ts';
import { type Engines, startEngines } from './engines/engines.ts';
import type { FunctionCounts, FunctionPool, Invoked } from './functions/pool.ts';
import { createDynamoDbFront } from './gateway/dynamodb-front.ts';
import { createEngine } from './gateway/engine.ts';
import { openJournal } from './gateway/journal.ts';
import { createNotifications, reconcile } from './gateway/notifications.ts';
import { createS3Gateway } from './gateway/s3-gateway.ts';
import { createVerifier } from './gateway/sigv4.ts';
import { createSqsFront } from './gateway/sqs-front.ts';
import { createStore } from './gateway/store.ts';
import { createHttpApi } from './http-api/http-api.ts';
import { type Authority, createAuthority, type Grant } from './iam/authority.ts';
import { createIdentities, type Identities } from './iam/identities.ts';
import { assertDeployable, createMayInvoke } from './iam/invocations.ts';
import { createIssuer } from './issuer/issuer.ts';
import { readIssuerKey } from './issuer/issuer-key.ts';
import { DEVELOPER, type Person } from './issuer/people.ts';
import { createTokens, TOKEN_LIFETIME } from './issuer/tokens.ts';
import { embeddedReader } from './metrics/embedded-format.ts';
import { createMetricStore, type MetricStore } from './metrics/metric-store.ts';
import { createServiceMetrics } from './metrics/service-metrics.ts';
import { watchQueues } from './metrics/watch-queues.ts';
import { buildPages } from './pages/built.ts';
import { createSample, type Sample } from './pages/sample.ts';
import { createWeb } from './pages/web.ts';
import { createParameterStore, parameterValues } from './parameters.ts';
import { accountsOf, anyCallsModels } from './provider/accounts.ts';
import type { OptionsInput } from './provider/settings.ts';
import { type SimulatorProcess, startSimulatorProcess } from './provider/simulator-process.ts';
import { type LocalServer, listen } from './servers.ts';
import { takeState } from './state.ts';
import { synthesise } from './synthesis.ts';
import { loadStack } from './template/load.ts';
import type { StackPlan } from './template/stack.ts';

export interface LocalCloudOptions {
  /** The project's folder. */
  root: string;
  /** Where objects, items, messages and logs are kept. */
  stateDir: string;
  /** The first of eight ports; 0 for any. */
  port?: number;
  /** A folder that `cdk synth` (with `-c local=true`) has written; made here if there is none. */
  cdkOut?: string;
  /** Build the pages if they have changed; unless told otherwise, only where `cdkOut` is not given. */
  build?: boolean;
  /** Forget what the state folder holds. */
  reset?: boolean;
  /** Told of each step when it is done. */
  progress?: (step: string, milliseconds: number) => void;
  /** Sees all that functions write, too. */
  onLog?: (functionName: string, text: string) => void;
  /** Hears, in one line, of what a function or a service was refused; once of each kind. */
  onDenied?: (line: string) => void;
  /** Hears, in one line, that the state's disk is full or cannot be written to; once of each kind. */
  onTrouble?: (line: string) => void;
  /** How the simulated model provider behaves; its account is that of the template unless stated here. */
  provider?: OptionsInput;
  /** Where `DYNOXIDE_BIN`, `DYNAMODB_ENDPOINT` and `GLIMPSE_PROVIDER_KEY` are looked up. */
  environment?: NodeJS.ProcessEnv;
}

export interface LocalCloud {
  readonly endpoints: CloudEndpoints;
  /** A token of the issuer on this machine. @param claims in the place of a person's usual ones. */
  tokenFor(person: Person, claims?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Whether it started without any original. */
  readonly empty: boolean;
  readonly sample: Sample;
  /** What functions and engines have measured since the start. */
  readonly metrics: Pick<MetricStore, 'read' | 'names'>;
  /** Settles, with a sentence, if the engines end by themselves; then only `stop` is left to do. */
  readonly failed: Promise<string>;
  /** By physical name, such as `endpoints.functions.ThumbnailsWorker`. */
  invoke(functionName: string, event: unknown): Promise<Invoked>;
  counts(functionName: string): Readonly<FunctionCounts>;
  /** All that the functions' roles are granted, and whether it was used since the start. */
  grants(): Grant[];
  /** Kills processes in which a function runs now, as a crash would; answers how many that were. */
  killFunction(functionName: string, most?: number): number;
  /** @param graceMs in which the functions that work on something may end it; 0 unless told otherwise */
  stop(graceMs?: number): Promise<void>;
}

/** What a start has begun, to be ended in the opposite order. */
type Stops = ((graceMs: number) => unknown)[];

/** Runs the stack on this machine. @throws one sentence that says what is wrong and what to do. */
export async function startLocalCloud(options: LocalCloudOptions): Promise<LocalCloud> {
  const stops: Stops = [];
  let stopped: Promise<void> | undefined;
  const stop = (graceMs = 0): Promise<void> => {
    stopped ??= stopAll(stops, graceMs);
    return stopped;
  };
  try {
    return Object.assign(await start(options, stops), { stop });
  } catch (error) {
    await stop();
    throw await startFailure(error, options.stateDir);
  }
}

async function stopAll(stops: Stops, graceMs: number): Promise<void> {
  while (stops.length > 0) await stops.pop()?.(graceMs);
}

async function start(options: LocalCloudOptions, stops: Stops): Promise<Omit<LocalCloud, 'stop'>> {
  const { stateDir, port = 0, progress = () => {} } = options;
  const timed = async <T>(step: string, work: Promise<T>): Promise<T> => {
    const started = performance.now();
    const result = await work;
    progress(step, performance.now() - started);
    return result;
  };

  const state = takeState(stateDir, options.reset ?? false);
  stops.push(() => state.release());
  const disk = watchDisk(stateDir, options.onTrouble ?? (() => {}));
  stops.push(() => disk.stop());
  await endLeftOver(stateDir);
  const servers = await listenAll(port, stops);

  // Each takes seconds, and none needs another.
  const environment = options.environment ?? process.env;
  const starting = startEngines({ stateDir, environment });
  stops.push(() => starting.then((started) => started.stop()).catch(() => {}));
  const [engines, cdkOut] = await Promise.all([
    timed('engines', starting),
    options.cdkOut ?? timed('synthesis', synthesise(options.root)),
    (options.build ?? options.cdkOut === undefined) && timed('pages', buildPages(options.root)),
  ]);

  const { web, api, s3, sqs: queues, issuer } = servers;
  const origins = {
    web: web.origin,
    api: api.origin,
    s3: s3.origin,
    sqs: queues.origin,
    issuer: issuer.origin,
  };
  const plan = await loadStack(cdkOut, origins);
  const tell = (line: string) => {
    const dated = `${new Date().toISOString()} ${line}\n`;
    disk.attempt(() => appendFileSync(join(stateDir, 'logs', 'denied.log'), dated));
    options.onDenied?.(line);
  };
  const identities = createIdentities(plan, DEVELOPER_KEYS);
  const authority = createAuthority(plan, tell);
  const guard = { identities, authority };
  assertDeployable(plan, authority);
  const keys = parameterValues(plan.functions, environment);
  const [provider] = await Promise.all([
    startProvider(servers.provider, port, options.provider, plan, keys, stops),
    timed('resources', createResources(engines, plan)),
  ]);

  const sqs = createAwsJson(engines.fauxqs);
  await serveS3(s3, engines, plan, guard, stateDir, stops);
  queues.serve(createSqsFront({ fauxqs: engines.fauxqs, origin: queues.origin, ...guard }));

  const { ssm, dynamodb } = servers;
  ssm.serve(createParameterStore({ values: keys, origin: ssm.origin, ...guard }));
  dynamodb.serve(createDynamoDbFront({ engine: engines.dynamodb, ...guard }));

  const key = await readIssuerKey(join(options.root, '.glimpse', 'issuer-key.json'));
  const tokens = createTokens(issuer.origin, key);
  issuer.serve(createIssuer(issuer.origin, key, tokens));
  const described = describeEndpoints(
    { ...origins, dynamodb: dynamodb.origin, provider: provider.url, ssm: ssm.origin },
    plan,
  );
  const asksForTokens = plan.apis.some(({ routes }) =>
    routes.some(({ authorization }) => authorization.kind === 'jwt'),
  );
  let endpoints = asksForTokens
    ? { ...described, token: await tokens.access(DEVELOPER) }
    : described;
  const { orphanage } = engines;
  const metrics = createMetricStore(Date.now);
  const services = createServiceMetrics(metrics, Date.now);
  const dashboards = createDashboards(plan.dashboards, metrics, Date.now);
  const onLog = logReader(metrics, options.onLog);
  const mayInvoke = createMayInvoke(plan.permissions, 'events.amazonaws.com', tell);
  const compute = startCompute({
    ...{ plan, endpoints, stateDir, disk, onLog, sqs, orphanage, mayInvoke },
    metrics: services,
    ...guard,
  });
  stops.push((graceMs) => compute.stop(graceMs));
  const queueNames = plan.queues.map(({ name }) => name);
  stops.push(watchQueues(engines.database, queueNames, services.queueRead));

  const [httpApi, another] = plan.apis;
  if (another !== undefined) {
    throw new Error('The local cloud runs one HTTP API, and the template has more.');
  }
  if (httpApi !== undefined) {
    const answered = (status: number, ms: number) => services.answered(httpApi.id, status, ms);
    const apiMayInvoke = createMayInvoke(plan.permissions, 'apigateway.amazonaws.com', tell);
    api.serve(createHttpApi(httpApi, compute, apiMayInvoke, answered, [DEVELOPER_KEYS]));
  }
  const sample = createSample(options.root, stateDir, orphanage);
  stops.push(() => sample.stop());
  web.serve(
    createWeb({
      root: options.root,
      endpoints: () => endpoints,
      pages: plan.pages,
      sample,
      dashboards,
    }),
  );
  const write = () =>
    writeFileSync(join(stateDir, 'endpoints.json'), `${JSON.stringify(endpoints, undefined, 2)}\n`);
  write();
  if (asksForTokens) {
    const renew = async (): Promise<void> => {
      endpoints = { ...described, token: await tokens.access(DEVELOPER) };
      disk.attempt(write);
    };
    const renewal = setInterval(() => void renew(), (TOKEN_LIFETIME * 1000) / 2).unref();
    stops.push(() => clearInterval(renewal));
  }

  const poolOf = (name: string): FunctionPool => {
    const pool = compute.pools.get(name);
    if (pool === undefined) throw new Error(`There is no function ${name}.`);
    return pool;
  };
  return {
    get endpoints() {
      return endpoints;
    },
    tokenFor: (person, claims) => tokens.access(person, claims),
    metrics,
    empty: await isEmpty(engines, endpoints.buckets.originals),
    sample,
    failed: Promise.race([engines.failed, provider.failed]),
    invoke: (name, event) => poolOf(name).invoke(JSON.stringify(event)),
    counts: (name) => poolOf(name).counts,
    grants: () => authority.grants(),
    killFunction: (name, most) => poolOf(name).killRunning(most),
  };
}

/** All that functions write is looked through for metrics. */
function logReader(
  { put }: MetricStore,
  also: LocalCloudOptions['onLog'],
): (functionName: string, text: string) => void {
  const readers = new Map<string, (text: string) => void>();
  return (name, text) => {
    const read = readers.get(name) ?? embeddedReader((samples) => samples.forEach(put));
    readers.set(name, read);
    read(text);
    also?.(name, text);
  };
}

type Servers = Record<
  'web' | 'api' | 's3' | 'sqs' | 'dynamodb' | 'provider' | 'ssm' | 'issuer',
  LocalServer
>;

/** Before all else: the template's queue URLs and the functions' environment hold these ports. */
async function listenAll(port: number, stops: Stops): Promise<Servers> {
  const open = async (offset: number, what: string): Promise<LocalServer> => {
    const server = await listen(port === 0 ? 0 : port + offset, what);
    stops.push(() => server.stop());
    return server;
  };
  return {
    web: await open(0, 'the web page'),
    api: await open(1, 'the API'),
    s3: await open(2, 'S3'),
    sqs: await open(3, 'SQS'),
    dynamodb: await open(4, 'DynamoDB'),
    provider: await open(5, 'the model provider'),
    ssm: await open(6, 'SSM'),
    issuer: await open(7, 'the issuer'),
  };
}

/**
 * The simulator has a process of its own: what it measures must not wait for this one's work. Where
 * no function calls a model, there is none.
 */
async function startProvider(
  server: LocalServer,
  firstPort: number,
  options: OptionsInput | undefined,
  { functions }: StackPlan,
  keys: ReadonlyMap<string, string>,
  stops: Stops,
): Promise<Pick<SimulatorProcess, 'url' | 'failed'>> {
  if (options === undefined && !anyCallsModels(functions)) {
    server.serve((_request, response) => {
      response
        .writeHead(404, { 'content-type': 'text/plain' })
        .end('No function here is told of a model: by ALLOWANCE or PROVIDER_KEY_PARAMETER.\n');
    });
    return { url: server.origin, failed: new Promise(() => {}) };
  }
  const { account, ...simulated } = options ?? {};
  const spent = account === undefined ? accountsOf(functions, keys) : { account };
  // It listens by itself, and a port that was given for none in particular may be another's by then.
  server.stop();
  const port = firstPort === 0 ? 0 : server.port;
  const simulator = await startSimulatorProcess({ ...spent, ...simulated, port });
  stops.push(() => simulator.stop());
  return simulator;
}

async function createResources(engines: Engines, plan: StackPlan): Promise<void> {
  await Promise.all([
    createBuckets(engines.fauxqs, plan.buckets),
    createQueues(createAwsJson(engines.fauxqs), plan.queues),
    createTables(createAwsJson(engines.dynamodb), plan.tables),
  ]);
}

async function isEmpty({ fauxqs }: Engines, bucket: string | undefined): Promise<boolean> {
  if (bucket === undefined) return false;
  const query = { 'list-type': '2', 'max-keys': '1' };
  const { body } = await createEngine(fauxqs).call({ method: 'GET', bucket, query });
  return !body.includes('<Key>');
}

async function serveS3(
  server: LocalServer,
  { fauxqs }: Engines,
  { buckets, queues }: StackPlan,
  guard: { identities: Identities; authority: Authority },
  stateDir: string,
  stops: Stops,
): Promise<void> {
  const engine = createEngine(fauxqs);
  const journal = openJournal(join(stateDir, 'notifications.jsonl'));
  const sqs = createAwsJson(fauxqs);
  const notifications = createNotifications({ buckets, queues, sqs, journal });
  stops.push(() => notifications.stop());
  await reconcile(journal.leftOver, engine, notifications);
  const verifier = createVerifier(guard.identities.keys);
  const store = createStore(engine, notifications);
  server.serve(createS3Gateway({ buckets, engine, store, verifier, ...guard }));
}
