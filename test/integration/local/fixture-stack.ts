import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { type LocalCloud, type LocalCloudOptions, startLocalCloud } from '../../../local/cloud.ts';
import type { FunctionPool } from '../../../local/functions/pool.ts';
import { createHttpApi } from '../../../local/http-api/http-api.ts';
import { createMayInvoke } from '../../../local/iam/invocations.ts';
import { listen } from '../../../local/servers.ts';
import { loadStack } from '../../../local/template/load.ts';
import type { FunctionPlan } from '../../../local/template/stack.ts';

// Small stacks, written as CDK would have synthesised them, for behaviour that Glimpse's own never
// shows: functions that sleep, crash, or fail in part.

export const root = resolve(import.meta.dirname, '../../..');

interface Entry {
  Type: string;
  Properties: Record<string, unknown>;
}
export type Resources = Record<string, Entry>;

/** What a bucket of which nothing is said has. */
export const OPEN = {
  PublicAccessBlockConfiguration: { BlockPublicAcls: true, IgnorePublicAcls: true },
};

export const bucket = (properties: Record<string, unknown> = {}): Entry => ({
  Type: 'AWS::S3::Bucket',
  Properties: properties,
});

export const publicRead = (name: string): Entry => ({
  Type: 'AWS::S3::BucketPolicy',
  Properties: {
    Bucket: { Ref: name },
    PolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Principal: { AWS: '*' },
          Action: 's3:GetObject',
          Resource: { 'Fn::Join': ['', [{ 'Fn::GetAtt': [name, 'Arn'] }, '/*']] },
        },
      ],
    },
  },
});

export const queue = (properties: Record<string, unknown> = {}): Entry => ({
  Type: 'AWS::SQS::Queue',
  Properties: properties,
});

export const arnOf = (name: string) => ({ 'Fn::GetAtt': [name, 'Arn'] });

/** A function whose module is `code`, which exports `handler`. */
export const lambda = (name: string, properties: Record<string, unknown> = {}): Entry => ({
  Type: 'AWS::Lambda::Function',
  Properties: {
    Code: { S3Bucket: 'assets', S3Key: `${name}.zip` },
    Handler: 'index.handler',
    Runtime: 'nodejs24.x',
    MemorySize: 256,
    Timeout: 5,
    ...properties,
  },
});

export const mapping = (
  queueName: string,
  functionName: string,
  properties: Record<string, unknown> = {},
): Entry => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: {
    EventSourceArn: arnOf(queueName),
    FunctionName: { Ref: functionName },
    BatchSize: 10,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    ScalingConfig: { MaximumConcurrency: 2 },
    ...properties,
  },
});

export function httpApi(
  routes: Record<string, string>,
  properties: Record<string, unknown> = {},
  stage: Record<string, unknown> = {},
): Resources {
  const entries: Resources = {
    Api: {
      Type: 'AWS::ApiGatewayV2::Api',
      Properties: { Name: 'Http', ProtocolType: 'HTTP', ...properties },
    },
    Stage: {
      Type: 'AWS::ApiGatewayV2::Stage',
      Properties: { ApiId: { Ref: 'Api' }, StageName: '$default', AutoDeploy: true, ...stage },
    },
  };
  for (const [index, [key, fn]] of Object.entries(routes).entries()) {
    entries[`Integration${index}`] = {
      Type: 'AWS::ApiGatewayV2::Integration',
      Properties: {
        ApiId: { Ref: 'Api' },
        IntegrationType: 'AWS_PROXY',
        IntegrationUri: arnOf(fn),
        PayloadFormatVersion: '2.0',
      },
    };
    entries[`Route${index}`] = {
      Type: 'AWS::ApiGatewayV2::Route',
      Properties: {
        ApiId: { Ref: 'Api' },
        AuthorizationType: 'NONE',
        RouteKey: key,
        Target: { 'Fn::Join': ['', ['integrations/', { Ref: `Integration${index}` }]] },
      },
    };
  }
  return entries;
}

/** A role of Lambda that may do what the statements say. */
export const role = (...statements: object[]): Entry => ({
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Action: 'sts:AssumeRole',
          Principal: { Service: 'lambda.amazonaws.com' },
        },
      ],
    },
    Policies: [
      {
        PolicyName: 'Own',
        PolicyDocument: { Version: '2012-10-17', Statement: statements },
      },
    ],
  },
});

export const allow = (Action: string | string[], Resource: unknown = '*') => ({
  Effect: 'Allow',
  Action,
  Resource,
});

export const permission = (name: string, Principal: string, SourceArn?: unknown): Entry => ({
  Type: 'AWS::Lambda::Permission',
  Properties: {
    Action: 'lambda:InvokeFunction',
    FunctionName: arnOf(name),
    Principal,
    ...(SourceArn === undefined ? {} : { SourceArn }),
  },
});

export const queuePolicy = (name: string, ...statements: object[]): Entry => ({
  Type: 'AWS::SQS::QueuePolicy',
  Properties: {
    Queues: [{ Ref: name }],
    PolicyDocument: { Version: '2012-10-17', Statement: statements },
  },
});

/**
 * The stack with all permissions that it leaves out: a function without a role may do everything,
 * everybody may invoke one without a permission, and S3 may tell a queue without a policy.
 */
function permitted(resources: Resources): Resources {
  const all: Resources = { ...resources };
  const of = (type: string) => Object.entries(resources).filter(([, { Type }]) => Type === type);
  const named = (type: string, property: string, value: unknown) =>
    of(type).some(([, { Properties }]) => isDeepStrictEqual(Properties[property], value));
  for (const [name, { Type, Properties }] of of('AWS::Lambda::Function')) {
    if (Properties.Role === undefined) {
      all[`${name}Role`] = role(allow('*'));
      all[name] = { Type, Properties: { ...Properties, Role: arnOf(`${name}Role`) } };
    }
    if (named('AWS::Lambda::Permission', 'FunctionName', arnOf(name))) continue;
    for (const service of ['apigateway', 'events'])
      all[`${name}By${service}`] = permission(name, `${service}.amazonaws.com`);
  }
  for (const [name] of of('AWS::SQS::Queue')) {
    if (named('AWS::SQS::QueuePolicy', 'Queues', [{ Ref: name }])) continue;
    const Principal = { Service: 's3.amazonaws.com' };
    const statement = { ...allow('sqs:SendMessage', arnOf(name)), Principal };
    all[`${name}Policy`] = queuePolicy(name, statement);
  }
  return all;
}

/** Writes a `cdk.out`. @param code a module's text, by the name that `lambda` was given. */
export function writeStack(
  dir: string,
  resources: Resources,
  code: Record<string, string> = {},
): string {
  const cdkOut = join(dir, 'cdk.out');
  const files: Record<string, object> = {};
  for (const [name, text] of Object.entries(code)) {
    mkdirSync(join(cdkOut, `asset.${name}`), { recursive: true });
    writeFileSync(join(cdkOut, `asset.${name}`, 'index.mjs'), text);
    files[name] = { source: { path: `asset.${name}`, packaging: 'zip' } };
  }
  mkdirSync(cdkOut, { recursive: true });
  writeFileSync(
    join(cdkOut, 'Test.template.json'),
    JSON.stringify({ Resources: permitted(resources) }),
  );
  writeFileSync(join(cdkOut, 'Test.assets.json'), JSON.stringify({ files }));
  return cdkOut;
}

export interface Fixture extends AsyncDisposable {
  readonly cloud: LocalCloud;
  readonly stateDir: string;
  readonly s3: S3Client;
  readonly sqs: SQSClient;
  stop(): Promise<void>;
}

export async function startFixture(
  resources: Resources,
  code: Record<string, string> = {},
  options: Partial<LocalCloudOptions> = {},
): Promise<Fixture> {
  const dir = mkdtempSync(join(tmpdir(), 'glimpse-local-'));
  const cdkOut = writeStack(dir, resources, code);
  const stateDir = join(dir, 'state');
  const cloud = await startLocalCloud({ root, stateDir, cdkOut, ...options });
  const { s3, sqs, credentials } = cloud.endpoints;
  const common = { region: 'us-east-1', credentials };
  const stop = async () => {
    await cloud.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  return {
    cloud,
    s3: new S3Client({ ...common, endpoint: s3, forcePathStyle: true }),
    sqs: new SQSClient({ ...common, endpoint: sqs }),
    stateDir,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export interface StartedApi {
  readonly origin: string;
  stop(): void;
}

/**
 * An HTTP API more than the one that a cloud has, before that cloud's functions.
 * @param resources of the API; the functions that its routes name are those of the cloud.
 */
export async function startApi(
  { cloud }: Fixture,
  resources: Resources,
  code: Record<string, string>,
  answered: (status: number) => void = () => {},
): Promise<StartedApi> {
  const dir = mkdtempSync(join(tmpdir(), 'glimpse-api-'));
  const server = await listen(0, 'another API');
  const { web, s3, sqs, issuer } = cloud.endpoints;
  const origins = { web, api: server.origin, s3, sqs, issuer };
  const { apis, functions, permissions } = await loadStack(
    writeStack(dir, resources, code),
    origins,
  );
  const [plan] = apis;
  if (plan === undefined) throw new Error('There is no API in these resources.');
  const pools = functions.map((fn): [string, FunctionPool] => [fn.name, poolOf(cloud, fn)]);
  const mayInvoke = createMayInvoke(permissions, 'apigateway.amazonaws.com', (line) => {
    throw new Error(line);
  });
  const compute = { pools: new Map(pools), warmUpBehind: () => {} };
  server.serve(createHttpApi(plan, compute, mayInvoke, answered));
  return {
    origin: server.origin,
    stop() {
      server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function poolOf(cloud: LocalCloud, plan: FunctionPlan): FunctionPool {
  return {
    plan,
    counts: cloud.counts(plan.name),
    invoke: (event) => cloud.invoke(plan.name, JSON.parse(event)),
    warmUp: () => {},
    killRunning: (most) => cloud.killFunction(plan.name, most),
    hurry: () => {},
    stop: () => {},
  };
}

/** Waits until something is so; the test's own time-out says that it never was. */
export async function until<T>(
  look: () => Promise<T | undefined> | T | undefined,
  milliseconds = 10_000,
): Promise<T> {
  for (const end = Date.now() + milliseconds; Date.now() < end; ) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('It never came about.');
}
