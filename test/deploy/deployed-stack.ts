import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Authorizer,
  GetApiCommand,
  GetAuthorizerCommand,
  GetIntegrationsCommand,
  GetRoutesCommand,
  GetStageCommand,
  type Route,
} from '@aws-sdk/client-apigatewayv2';
import { ListRulesCommand, ListTargetsByRuleCommand } from '@aws-sdk/client-eventbridge';
import { GetFunctionCommand, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type {
  ApiPlan,
  Authorization,
  FunctionPlan,
  MappingPlan,
  QueuePlan,
  SchedulePlan,
  StackPlan,
} from '../../local/template/stack.ts';
import type { Aws, Deployed } from './aws.ts';

// What the local cloud needs to know to run a stack's functions, asked of AWS itself: nothing here
// comes from the template.

const run = promisify(execFile);
const ASSETS = 'cdk-hnb659fds-assets-123456789012-us-east-1';

/** @param work a folder for what the zips hold: none above it has a `node_modules`. */
export async function planDeployed(
  aws: Aws,
  resources: readonly Deployed[],
  python: string,
  work: string,
): Promise<StackPlan> {
  const of = (type: string) => resources.filter((resource) => resource.type === type);
  const named = ({ logicalId, physicalId }: Deployed) => ({ logicalId, name: physicalId });
  const mappings = await planMappings(aws);
  const fed = new Set(mappings.map(({ functionName }) => functionName));
  return {
    outputs: {},
    buckets: of('AWS::S3::Bucket').map((bucket) => ({
      ...named(bucket),
      cors: [],
      notifications: [],
      // moto evaluates no policies.
      policy: [],
      open: false,
    })),
    tables: of('AWS::DynamoDB::Table').map((table) => ({
      ...named(table),
      properties: { KeySchema: [], AttributeDefinitions: [], GlobalSecondaryIndexes: [] },
    })),
    queues: await Promise.all(of('AWS::SQS::Queue').map((queue) => planQueue(aws, queue))),
    functions: await Promise.all(
      of('AWS::Lambda::Function').map((fn) =>
        planFunction(aws, fn, fed.has(fn.physicalId), { python, work }),
      ),
    ),
    roles: [],
    permissions: [],
    mappings,
    schedules: await planSchedules(aws),
    apis: await Promise.all(of('AWS::ApiGatewayV2::Api').map((api) => planApi(aws, api))),
    dashboards: [],
  };
}

async function planQueue({ sqs }: Aws, { logicalId, physicalId }: Deployed): Promise<QueuePlan> {
  const { Attributes: all = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: physicalId, AttributeNames: ['All'] }),
  );
  const { QueueArn: arn = '', VisibilityTimeout = '', RedrivePolicy } = all;
  return {
    logicalId,
    name: arn.split(':').at(-1) ?? '',
    url: physicalId,
    arn,
    attributes: { VisibilityTimeout },
    policy: [],
    ...(RedrivePolicy === undefined
      ? {}
      : { deadLetterArn: JSON.parse(RedrivePolicy).deadLetterTargetArn }),
  };
}

async function planFunction(
  aws: Aws,
  { logicalId, physicalId }: Deployed,
  queueDriven: boolean,
  where: { python: string; work: string },
): Promise<FunctionPlan> {
  const found = await aws.functions.send(new GetFunctionCommand({ FunctionName: physicalId }));
  const { Configuration: is = {}, Concurrency, Code } = found;
  const zip = await deployedZip(aws, Code?.Location ?? '', is.CodeSha256);
  const folder = join(where.work, physicalId);
  await writeFile(`${folder}.zip`, zip);
  await run(where.python, ['-m', 'zipfile', '-e', `${folder}.zip`, folder]);
  const reserved = Concurrency?.ReservedConcurrentExecutions;
  return {
    logicalId,
    name: physicalId,
    arn: is.FunctionArn ?? '',
    folder,
    handler: is.Handler ?? '',
    memoryMb: is.MemorySize ?? 0,
    timeoutSeconds: is.Timeout ?? 0,
    ...(reserved === undefined ? {} : { reservedConcurrency: reserved }),
    environment: is.Environment?.Variables ?? {},
    roleArn: is.Role ?? '',
    logArn: '',
    queueDriven,
  };
}

/** moto's address of it leads nowhere, but names the object: Lambda's digest says that it is the one. */
async function deployedZip(
  { s3 }: Aws,
  location: string,
  sha256: string | undefined,
): Promise<Uint8Array> {
  const Key = new URL(location).pathname.slice(1);
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: ASSETS, Key }));
  const zip = (await Body?.transformToByteArray()) ?? new Uint8Array();
  const found = createHash('sha256').update(zip).digest('base64');
  if (found !== sha256) throw new Error(`${Key} is not what was deployed.`);
  return zip;
}

async function planMappings({ functions }: Aws): Promise<MappingPlan[]> {
  const { EventSourceMappings: all = [] } = await functions.send(
    new ListEventSourceMappingsCommand({}),
  );
  return all.map((mapping) => ({
    queueArn: mapping.EventSourceArn ?? '',
    functionName: mapping.FunctionArn?.split(':').at(-1) ?? '',
    batchSize: mapping.BatchSize ?? 0,
    windowSeconds: mapping.MaximumBatchingWindowInSeconds ?? 0,
    maximumConcurrency: mapping.ScalingConfig?.MaximumConcurrency ?? 0,
    reportsItemFailures:
      mapping.FunctionResponseTypes?.includes('ReportBatchItemFailures') ?? false,
  }));
}

async function planSchedules({ events }: Aws): Promise<SchedulePlan[]> {
  const { Rules: rules = [] } = await events.send(new ListRulesCommand({}));
  const plans = rules.map(async ({ Name, Arn: arn = '', ScheduleExpression }) => {
    const everyMs = Number(/^rate\((\d+) minutes?\)$/.exec(ScheduleExpression ?? '')?.[1]) * 60_000;
    const { Targets = [] } = await events.send(new ListTargetsByRuleCommand({ Rule: Name }));
    return Targets.map(({ Arn }) => ({
      arn,
      everyMs,
      functionName: Arn?.split(':').at(-1) ?? '',
    }));
  });
  return (await Promise.all(plans)).flat();
}

type Told = Pick<Authorizer, 'AuthorizerId' | 'IdentitySource' | 'JwtConfiguration'>;

/** Those that routes name, one by one: moto has no list of them. */
export async function authorizersOf(
  apis: Aws['apis'],
  ApiId: string,
  routes: readonly Route[],
): Promise<Told[]> {
  const named = new Set(routes.flatMap((route) => route.AuthorizerId ?? []));
  return await Promise.all(
    [...named].map((AuthorizerId) => apis.send(new GetAuthorizerCommand({ ApiId, AuthorizerId }))),
  );
}

function planAuthorization(
  { AuthorizationType }: Pick<Route, 'AuthorizationType'>,
  authorizer: Told | undefined,
): Authorization {
  if (AuthorizationType !== 'JWT') return { kind: 'none' };
  const [, place, name = ''] = authorizer?.IdentitySource?.[0]?.slice(1).split('.') ?? [];
  return {
    kind: 'jwt',
    source:
      place === 'querystring' ? { in: place, name } : { in: 'header', name: name.toLowerCase() },
    issuer: authorizer?.JwtConfiguration?.Issuer ?? '',
    audience: authorizer?.JwtConfiguration?.Audience ?? [],
    scopes: [],
  };
}

async function planApi({ apis }: Aws, { physicalId: ApiId }: Deployed): Promise<ApiPlan> {
  const [api, routes, integrations, stage] = await Promise.all([
    apis.send(new GetApiCommand({ ApiId })),
    apis.send(new GetRoutesCommand({ ApiId })),
    apis.send(new GetIntegrationsCommand({ ApiId })),
    apis.send(new GetStageCommand({ ApiId, StageName: '$default' })),
  ]);
  const uris = new Map(
    integrations.Items?.map(({ IntegrationId, IntegrationUri }) => [
      `integrations/${IntegrationId}`,
      IntegrationUri,
    ]),
  );
  const authorizers = await authorizersOf(apis, ApiId, routes.Items ?? []);
  const { CorsConfiguration: cors } = api;
  const { ThrottlingRateLimit, ThrottlingBurstLimit } = stage.DefaultRouteSettings ?? {};
  return {
    id: ApiId,
    ...(cors === undefined
      ? {}
      : {
          cors: {
            AllowCredentials: cors.AllowCredentials ?? false,
            AllowHeaders: cors.AllowHeaders ?? [],
            AllowMethods: cors.AllowMethods ?? [],
            AllowOrigins: cors.AllowOrigins ?? [],
            ExposeHeaders: cors.ExposeHeaders ?? [],
            ...(cors.MaxAge === undefined ? {} : { MaxAge: cors.MaxAge }),
          },
        }),
    routes: (routes.Items ?? []).map(({ RouteKey: key = '', Target = '', ...route }) => ({
      key,
      functionName: uris.get(Target)?.split(':').at(-1) ?? '',
      authorization: planAuthorization(
        route,
        authorizers.find(({ AuthorizerId }) => AuthorizerId === route.AuthorizerId),
      ),
    })),
    ...(ThrottlingRateLimit === undefined
      ? {}
      : {
          throttle: {
            ratePerSecond: ThrottlingRateLimit,
            burst: ThrottlingBurstLimit ?? ThrottlingRateLimit,
          },
        }),
  };
}
