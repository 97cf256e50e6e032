import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutParameterCommand } from '@aws-sdk/client-ssm';
import { startCompute } from '../../local/compute.ts';
import { DEVELOPER_KEYS, describeEndpoints } from '../../local/endpoints.ts';
import { createAwsJson } from '../../local/engines/aws-json.ts';
import type { Invoked } from '../../local/functions/pool.ts';
import { createHttpApi } from '../../local/http-api/http-api.ts';
import { createIdentities } from '../../local/iam/identities.ts';
import { createIssuer } from '../../local/issuer/issuer.ts';
import { readIssuerKey } from '../../local/issuer/issuer-key.ts';
import { DEVELOPER } from '../../local/issuer/people.ts';
import { createTokens } from '../../local/issuer/tokens.ts';
import { createServiceMetrics } from '../../local/metrics/service-metrics.ts';
import { parameterValues } from '../../local/parameters.ts';
import { accountsOf } from '../../local/provider/accounts.ts';
import { startSimulatorProcess } from '../../local/provider/simulator-process.ts';
import { listen } from '../../local/servers.ts';
import type { ApiPlan, StackPlan } from '../../local/template/stack.ts';
import { type Aws, deployedResources, namesOf } from './aws.ts';
import { planDeployed } from './deployed-stack.ts';

/** The deployed functions at work: their zips in processes, AWS's part of calling them from the local cloud. */
export interface RunningStack {
  readonly plan: StackPlan;
  readonly api: string;
  /** Of somebody who may do everything. */
  readonly token: string;
  /** By logical name. */
  readonly buckets: ReadonlyMap<string, string>;
  /** @param name a function's, physical. */
  invoke(name: string, event: unknown): Promise<Invoked>;
  /** What the functions have written so far. */
  log(): string;
  stop(): Promise<void>;
}

export async function runDeployed(
  aws: Aws,
  endpoint: string,
  python: string,
): Promise<RunningStack> {
  const work = await mkdtemp(join(tmpdir(), 'glimpse-deployed-'));
  await mkdir(join(work, 'logs'));
  const resources = await deployedResources(aws);
  const plan = await planDeployed(aws, resources, python, work);

  const keys = parameterValues(plan.functions, {
    GLIMPSE_PROVIDER_KEY: randomBytes(8).toString('hex'),
  });
  for (const [Name, Value] of keys) {
    const secret = { Name, Value, Type: 'SecureString', Overwrite: true } as const;
    await aws.ssm.send(new PutParameterCommand(secret));
  }
  const provider = await startSimulatorProcess(accountsOf(plan.functions, keys));
  const server = await listen(0, 'the API');
  const services = { s3: endpoint, sqs: endpoint, dynamodb: endpoint, ssm: endpoint };
  const signer = await listen(0, 'the issuer');
  const key = await readIssuerKey(join(work, 'issuer-key.json'));
  const tokens = createTokens(signer.origin, key);
  signer.serve(createIssuer(signer.origin, key, tokens));
  const origins = {
    ...services,
    web: '',
    api: server.origin,
    provider: provider.url,
    issuer: signer.origin,
  };

  let written = '';
  const compute = startCompute({
    plan,
    endpoints: describeEndpoints(origins, plan),
    stateDir: work,
    disk: { attempt: (write) => write(), stop: () => {} },
    onLog: (_, text) => {
      written += text;
    },
    sqs: createAwsJson(endpoint),
    metrics: createServiceMetrics({ put: () => {} }, Date.now),
    orphanage: { watch: () => {}, unwatch: () => {} },
    identities: createIdentities(plan, DEVELOPER_KEYS),
    // moto lets everyone do everything.
    authority: { refusal: () => undefined, wouldRefuse: () => undefined, grants: () => [] },
    mayInvoke: () => true,
  });
  const [api] = plan.apis;
  if (api === undefined) throw new Error('The stack has no HTTP API.');
  server.serve(
    createHttpApi(
      issuedBy(signer.origin, api),
      compute,
      () => true,
      () => {},
    ),
  );
  return {
    plan,
    api: server.origin,
    token: await tokens.access(DEVELOPER),
    buckets: namesOf(resources, 'AWS::S3::Bucket'),
    async invoke(name, event) {
      const pool = compute.pools.get(name);
      if (pool === undefined) throw new Error(`There is no function ${name}.`);
      return await pool.invoke(JSON.stringify(event));
    },
    log: () => written,
    async stop() {
      server.stop();
      signer.stop();
      await compute.stop();
      await provider.stop();
      await rm(work, { recursive: true, force: true });
    },
  };
}

/** The configured issuer is nobody's. */
function issuedBy(issuer: string, { routes, ...api }: ApiPlan): ApiPlan {
  return {
    ...api,
    routes: routes.map(({ authorization, ...route }) => ({
      ...route,
      authorization: authorization.kind === 'jwt' ? { ...authorization, issuer } : authorization,
    })),
  };
}
