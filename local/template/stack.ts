import { readStatement, type Statement } from '../iam/statement.ts';
import type { Assets } from './assets.ts';
import { ACCOUNT, REGION } from './intrinsics.ts';
import type { Resource, Template } from './read.ts';
import type { ApiCors, CorsRule, HeadersPolicy } from './resources.ts';

// The template as the local cloud's parts want it: plain descriptions, each part takes its own.

export interface BucketPlan {
  readonly logicalId: string;
  readonly name: string;
  readonly cors: readonly CorsRule[];
  readonly notifications: readonly NotificationPlan[];
  readonly policy: readonly Statement[];
  /** Whether its policy may let in those who sign nothing: no public access block shuts them out. */
  readonly open: boolean;
}

export interface NotificationPlan {
  /** Such as `s3:ObjectCreated:*`. */
  readonly event: string;
  readonly queueArn: string;
  readonly prefix: string;
  readonly suffix: string;
}

export interface QueuePlan {
  readonly logicalId: string;
  readonly name: string;
  readonly url: string;
  readonly arn: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly policy: readonly Statement[];
  readonly deadLetterArn?: string;
}

export interface TablePlan {
  readonly logicalId: string;
  readonly name: string;
  readonly properties: Resource<'AWS::DynamoDB::Table'>['properties'];
}

export interface FunctionPlan {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly folder: string;
  readonly handler: string;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  readonly reservedConcurrency?: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly roleArn: string;
  /** Its log stream's. */
  readonly logArn: string;
  /** Whether a queue feeds it. */
  readonly queueDriven: boolean;
}

export interface RolePlan {
  readonly name: string;
  readonly arn: string;
  /** The services that may take it on. */
  readonly trusts: readonly string[];
  readonly statements: readonly Statement[];
}

/** That a service may invoke a function. */
export interface PermissionPlan {
  readonly functionName: string;
  /** Such as `apigateway.amazonaws.com`. */
  readonly service: string;
  /** A pattern of what it may be invoked for; for anything without. */
  readonly sourceArn?: string;
}

export interface MappingPlan {
  readonly queueArn: string;
  readonly functionName: string;
  readonly batchSize: number;
  readonly windowSeconds: number;
  readonly maximumConcurrency: number;
  readonly reportsItemFailures: boolean;
}

export interface SchedulePlan {
  readonly arn: string;
  readonly everyMs: number;
  readonly functionName: string;
}

/** Whom a route lets in. */
export type Authorization =
  | { readonly kind: 'none' }
  | { readonly kind: 'iam' }
  | {
      readonly kind: 'jwt';
      /** A header in lower case, or a parameter of the query. */
      readonly source: { readonly in: 'header' | 'querystring'; readonly name: string };
      readonly issuer: string;
      readonly audience: readonly string[];
      /** One of them is enough. */
      readonly scopes: readonly string[];
    };

export interface RoutePlan {
  readonly key: string;
  readonly functionName: string;
  readonly authorization: Authorization;
}

export interface ApiPlan {
  readonly id: string;
  readonly cors?: ApiCors;
  readonly routes: readonly RoutePlan[];
  readonly throttle?: { readonly ratePerSecond: number; readonly burst: number };
}

/** What CloudFront would do with the files that were built. */
export interface PagesPlan {
  /** What `/` is. */
  readonly rootObject: string;
  /** By the status that S3 would answer: what is answered instead. */
  readonly errors: ReadonlyMap<number, { readonly status: number; readonly path: string }>;
  /** Of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cors?: ApiCors;
  /** The content of `/config.json`. */
  readonly config: string;
}

export interface DashboardPlan {
  readonly name: string;
  /** As CloudWatch takes it. */
  readonly body: string;
}

export interface StackPlan {
  readonly outputs: Readonly<Record<string, string>>;
  readonly buckets: readonly BucketPlan[];
  readonly queues: readonly QueuePlan[];
  readonly tables: readonly TablePlan[];
  readonly functions: readonly FunctionPlan[];
  readonly roles: readonly RolePlan[];
  readonly permissions: readonly PermissionPlan[];
  readonly mappings: readonly MappingPlan[];
  readonly schedules: readonly SchedulePlan[];
  readonly apis: readonly ApiPlan[];
  readonly dashboards: readonly DashboardPlan[];
  readonly pages?: PagesPlan;
}

export function planStack(template: Template, assets: Assets): StackPlan {
  const mappings = template.all('AWS::Lambda::EventSourceMapping').map(planMapping);
  const policies = {
    buckets: template.all('AWS::S3::BucketPolicy'),
    queues: template.all('AWS::SQS::QueuePolicy'),
    roles: template.all('AWS::IAM::Policy'),
  };
  const roles = template.all('AWS::IAM::Role').map((role) => planRole(role, policies.roles));
  const pages = planPages(template);
  return {
    outputs: template.outputs,
    buckets: template.all('AWS::S3::Bucket').map((bucket) => planBucket(bucket, policies.buckets)),
    queues: template.all('AWS::SQS::Queue').map((queue) => planQueue(queue, policies.queues)),
    tables: template.all('AWS::DynamoDB::Table').map(({ logicalId, name, properties }) => ({
      logicalId,
      name,
      properties,
    })),
    functions: template
      .all('AWS::Lambda::Function')
      .map((resource) => planFunction(resource, assets, mappings, roles)),
    roles,
    permissions: template.all('AWS::Lambda::Permission').map(planPermission),
    mappings,
    schedules: template.all('AWS::Events::Rule').flatMap(planSchedules),
    apis: template.all('AWS::ApiGatewayV2::Api').map((api) => planApi(api, template)),
    dashboards: template
      .all('AWS::CloudWatch::Dashboard')
      .map(({ properties: { DashboardName, DashboardBody } }) => ({
        name: DashboardName,
        body: DashboardBody,
      })),
    ...(pages === undefined ? {} : { pages }),
  };
}

function planBucket(
  { logicalId, name, properties }: Resource<'AWS::S3::Bucket'>,
  policies: readonly Resource<'AWS::S3::BucketPolicy'>[],
): BucketPlan {
  const policy = policies
    .filter((candidate) => candidate.properties.Bucket === name)
    .flatMap((found) => readStatements(found.logicalId, found.properties.PolicyDocument));
  // A bucket of which nothing is said has all of it.
  const block = properties.PublicAccessBlockConfiguration ?? {
    BlockPublicPolicy: true,
    RestrictPublicBuckets: true,
  };
  if (block.BlockPublicPolicy === true && policy.some(isPublic)) {
    throw new Error(
      `The policy of ${name} is public, which its public access block forbids: AWS would refuse it.`,
    );
  }
  return {
    logicalId,
    name,
    cors: properties.CorsConfiguration?.CorsRules ?? [],
    notifications: (properties.NotificationConfiguration?.QueueConfigurations ?? []).map(
      ({ Event, Queue, Filter }) => ({
        event: Event,
        queueArn: Queue,
        prefix: Filter?.S3Key.Rules.find((rule) => rule.Name === 'prefix')?.Value ?? '',
        suffix: Filter?.S3Key.Rules.find((rule) => rule.Name === 'suffix')?.Value ?? '',
      }),
    ),
    policy,
    open: block.RestrictPublicBuckets !== true,
  };
}

const isPublic = ({ effect, principals }: Statement): boolean =>
  effect === 'Allow' && principals.some(({ kind, name }) => kind === 'AWS' && name === '*');

function readStatements(
  logicalId: string,
  document: Resource<'AWS::IAM::Policy'>['properties']['PolicyDocument'],
): Statement[] {
  return document.Statement.map((statement) => readStatement(statement, logicalId));
}

function planQueue(
  { logicalId, name, identity, properties }: Resource<'AWS::SQS::Queue'>,
  policies: readonly Resource<'AWS::SQS::QueuePolicy'>[],
): QueuePlan {
  const { QueueName, RedrivePolicy, ...numbers } = properties;
  const attributes = Object.fromEntries(
    Object.entries(numbers).map(([attribute, value]) => [attribute, String(value)]),
  );
  if (RedrivePolicy !== undefined) attributes.RedrivePolicy = JSON.stringify(RedrivePolicy);
  return {
    logicalId,
    name: QueueName ?? name,
    url: identity.ref,
    arn: identity.attributes.Arn ?? '',
    attributes,
    policy: policies
      .filter((candidate) => candidate.properties.Queues.includes(identity.ref))
      .flatMap((found) => readStatements(found.logicalId, found.properties.PolicyDocument)),
    ...(RedrivePolicy ? { deadLetterArn: RedrivePolicy.deadLetterTargetArn } : {}),
  };
}

/** AWS's own policies, by name: what they allow. */
const MANAGED: Readonly<Record<string, readonly string[]>> = {
  'service-role/AWSLambdaBasicExecutionRole': [
    'logs:CreateLogGroup',
    'logs:CreateLogStream',
    'logs:PutLogEvents',
  ],
};

function planRole(
  { logicalId, name, identity, properties }: Resource<'AWS::IAM::Role'>,
  policies: readonly Resource<'AWS::IAM::Policy'>[],
): RolePlan {
  const managed = properties.ManagedPolicyArns.map((arn) => {
    const Action = [...(MANAGED[arn.replace('arn:aws:iam::aws:policy/', '')] ?? [])];
    if (Action.length === 0) {
      throw new Error(`${logicalId}: the local cloud does not know what ${arn} allows.`);
    }
    return readStatement({ Effect: 'Allow', Action, Resource: ['*'] }, logicalId);
  });
  const attached = policies
    .filter((candidate) => candidate.properties.Roles.includes(name))
    .flatMap((found) => readStatements(found.logicalId, found.properties.PolicyDocument));
  const own = properties.Policies.flatMap(({ PolicyDocument }) =>
    readStatements(logicalId, PolicyDocument),
  );
  return {
    name,
    arn: identity.attributes.Arn ?? '',
    trusts: properties.AssumeRolePolicyDocument.Statement.flatMap(
      ({ Principal }) => Principal.Service ?? [],
    ),
    statements: [...own, ...attached, ...managed],
  };
}

function planPermission({ properties }: Resource<'AWS::Lambda::Permission'>): PermissionPlan {
  const { FunctionName, Principal, SourceArn } = properties;
  return {
    functionName: FunctionName.replace(/^.*:function:/, ''),
    service: Principal,
    ...(SourceArn === undefined ? {} : { sourceArn: SourceArn }),
  };
}

function planFunction(
  { logicalId, name, identity, properties }: Resource<'AWS::Lambda::Function'>,
  assets: Assets,
  mappings: readonly MappingPlan[],
  roles: readonly RolePlan[],
): FunctionPlan {
  const role = roles.find(({ arn }) => arn === properties.Role);
  if (role?.trusts.includes('lambda.amazonaws.com') !== true) {
    throw new Error(
      `${logicalId}: expected a role of the template that Lambda may take on, got ${properties.Role}.`,
    );
  }
  const reserved = properties.ReservedConcurrentExecutions;
  return {
    logicalId,
    name,
    arn: identity.attributes.Arn ?? '',
    folder: assets(properties.Code.S3Key),
    handler: properties.Handler,
    memoryMb: properties.MemorySize,
    timeoutSeconds: properties.Timeout,
    ...(reserved === undefined ? {} : { reservedConcurrency: reserved }),
    environment: properties.Environment?.Variables ?? {},
    roleArn: role.arn,
    logArn: `arn:aws:logs:${REGION}:${ACCOUNT}:log-group:${properties.LoggingConfig.LogGroup ?? `/aws/lambda/${name}`}:log-stream:local`,
    queueDriven: mappings.some((mapping) => mapping.functionName === name),
  };
}

function planMapping({ properties }: Resource<'AWS::Lambda::EventSourceMapping'>): MappingPlan {
  return {
    queueArn: properties.EventSourceArn,
    functionName: properties.FunctionName.replace(/^.*:function:/, ''),
    batchSize: properties.BatchSize,
    windowSeconds: properties.MaximumBatchingWindowInSeconds,
    // Without a configured maximum, AWS goes to 1,250 pollers.
    maximumConcurrency: properties.Enabled
      ? (properties.ScalingConfig?.MaximumConcurrency ?? 1250)
      : 0,
    reportsItemFailures: properties.FunctionResponseTypes.length > 0,
  };
}

/** A plan for each target. */
function planSchedules({
  logicalId,
  identity,
  properties,
}: Resource<'AWS::Events::Rule'>): SchedulePlan[] {
  const { ScheduleExpression, State, Targets } = properties;
  const everyMs = intervalOf(ScheduleExpression);
  if (everyMs === undefined) {
    throw new Error(
      `${logicalId}: the local cloud knows schedules such as rate(5 minutes), got ${ScheduleExpression}.`,
    );
  }
  if (State === 'DISABLED') return [];
  return Targets.map(({ Arn }) => {
    const functionName = Arn.split(`:${ACCOUNT}:function:`)[1];
    if (functionName === undefined) {
      throw new Error(`${logicalId}: the local cloud calls functions by schedule, got ${Arn}.`);
    }
    return { arn: identity.attributes.Arn ?? '', everyMs, functionName };
  });
}

/** Milliseconds. As on AWS, one is a minute and more are minutes. */
function intervalOf(expression: string): number | undefined {
  const found = /^rate\((?:(1) minute|([2-9]|[1-9]\d{1,3}) minutes)\)$/.exec(expression);
  const count = found?.[1] ?? found?.[2];
  return count === undefined ? undefined : Number(count) * 60_000;
}

function planApi(
  { identity, properties }: Resource<'AWS::ApiGatewayV2::Api'>,
  template: Template,
): ApiPlan {
  const id = identity.ref;
  const integrations = template.all('AWS::ApiGatewayV2::Integration');
  const routes = template
    .all('AWS::ApiGatewayV2::Route')
    .filter((route) => route.properties.ApiId === id)
    .map((route) => {
      const { logicalId, properties } = route;
      const { RouteKey, Target } = properties;
      const target = integrations.find(({ identity: { ref } }) => Target === `integrations/${ref}`);
      const prefix = `:${ACCOUNT}:function:`;
      const functionName = target?.properties.IntegrationUri.split(prefix)[1];
      if (functionName === undefined)
        throw new Error(`${logicalId}: ${Target} is not in the template.`);
      return { key: RouteKey, functionName, authorization: planAuthorization(route, template) };
    });
  const stage = template
    .all('AWS::ApiGatewayV2::Stage')
    .find((candidate) => candidate.properties.ApiId === id);
  const settings = stage?.properties.DefaultRouteSettings;
  return {
    id,
    ...(properties.CorsConfiguration ? { cors: properties.CorsConfiguration } : {}),
    routes,
    ...(settings?.ThrottlingRateLimit === undefined
      ? {}
      : {
          throttle: {
            ratePerSecond: settings.ThrottlingRateLimit,
            burst: settings.ThrottlingBurstLimit ?? settings.ThrottlingRateLimit,
          },
        }),
  };
}

function planAuthorization(
  { logicalId, properties }: Resource<'AWS::ApiGatewayV2::Route'>,
  template: Template,
): Authorization {
  const { AuthorizationType, AuthorizerId, AuthorizationScopes } = properties;
  if (AuthorizationType === 'NONE') return { kind: 'none' };
  if (AuthorizationType === 'AWS_IAM') return { kind: 'iam' };
  const authorizer = template
    .all('AWS::ApiGatewayV2::Authorizer')
    .find(({ identity }) => identity.ref === AuthorizerId);
  if (authorizer === undefined) {
    throw new Error(`${logicalId}: the authorizer ${AuthorizerId} is not in the template.`);
  }
  const { IdentitySource, JwtConfiguration } = authorizer.properties;
  const [, place, name = ''] = IdentitySource[0]?.slice(1).split('.') ?? [];
  return {
    kind: 'jwt',
    source:
      place === 'header' ? { in: 'header', name: name.toLowerCase() } : { in: 'querystring', name },
    issuer: JwtConfiguration.Issuer,
    audience: JwtConfiguration.Audience,
    scopes: AuthorizationScopes,
  };
}

function planPages(template: Template): PagesPlan | undefined {
  const [distribution, another] = template.all('AWS::CloudFront::Distribution');
  if (distribution === undefined) return undefined;
  const config = template.outputs.PagesConfig;
  if (another !== undefined || config === undefined) {
    throw new Error(
      'The local cloud serves one distribution, that of the pages, with the output PagesConfig.',
    );
  }
  const { CustomErrorResponses, DefaultCacheBehavior, DefaultRootObject } =
    distribution.properties.DistributionConfig;
  const policy = template
    .all('AWS::CloudFront::ResponseHeadersPolicy')
    .find(({ identity }) => identity.ref === DefaultCacheBehavior.ResponseHeadersPolicyId);
  return {
    rootObject: DefaultRootObject ?? '',
    errors: new Map(
      CustomErrorResponses.map(({ ErrorCode, ResponseCode, ResponsePagePath }) => [
        ErrorCode,
        { status: ResponseCode, path: ResponsePagePath.slice(1) },
      ]),
    ),
    config,
    ...planHeaders(policy?.properties.ResponseHeadersPolicyConfig),
  };
}

function planHeaders(policy: HeadersPolicy | undefined): Pick<PagesPlan, 'headers' | 'cors'> {
  if (policy === undefined) return { headers: {} };
  const { CorsConfig, CustomHeadersConfig, SecurityHeadersConfig } = policy;
  const { ContentSecurityPolicy, ContentTypeOptions, FrameOptions, ReferrerPolicy } =
    SecurityHeadersConfig;
  const headers = {
    'content-security-policy': ContentSecurityPolicy?.ContentSecurityPolicy,
    'x-content-type-options': ContentTypeOptions && 'nosniff',
    'x-frame-options': FrameOptions?.FrameOption,
    'referrer-policy': ReferrerPolicy?.ReferrerPolicy,
    ...Object.fromEntries(
      CustomHeadersConfig.Items.map(({ Header, Value }) => [Header.toLowerCase(), Value]),
    ),
  };
  return {
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      ),
    ),
    ...(CorsConfig === undefined
      ? {}
      : {
          cors: {
            AllowCredentials: CorsConfig.AccessControlAllowCredentials,
            AllowHeaders: CorsConfig.AccessControlAllowHeaders.Items,
            AllowMethods: CorsConfig.AccessControlAllowMethods.Items,
            AllowOrigins: CorsConfig.AccessControlAllowOrigins.Items,
            ExposeHeaders: [],
          },
        }),
  };
}
