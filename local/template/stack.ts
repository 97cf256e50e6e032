import type { Assets } from './assets.ts';
import { ACCOUNT } from './intrinsics.ts';
import type { Resource, Template } from './read.ts';
import type { ApiCors, CorsRule, HeadersPolicy, Statement } from './resources.ts';

// The template as the local cloud's parts want it: plain descriptions, each part takes its own.

export interface BucketPlan {
  readonly logicalId: string;
  readonly name: string;
  readonly cors: readonly CorsRule[];
  readonly notifications: readonly NotificationPlan[];
  /** Whether the bucket's policy lets anyone read its objects. */
  readonly publicRead: boolean;
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
  /** Whether a queue feeds it. */
  readonly queueDriven: boolean;
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
  readonly mappings: readonly MappingPlan[];
  readonly schedules: readonly SchedulePlan[];
  readonly apis: readonly ApiPlan[];
  readonly dashboards: readonly DashboardPlan[];
  readonly pages?: PagesPlan;
}

export function planStack(template: Template, assets: Assets): StackPlan {
  const mappings = template.all('AWS::Lambda::EventSourceMapping').map(planMapping);
  const pages = planPages(template);
  return {
    outputs: template.outputs,
    buckets: template.all('AWS::S3::Bucket').map((bucket) => planBucket(bucket, template)),
    queues: template.all('AWS::SQS::Queue').map(planQueue),
    tables: template.all('AWS::DynamoDB::Table').map(({ logicalId, name, properties }) => ({
      logicalId,
      name,
      properties,
    })),
    functions: template
      .all('AWS::Lambda::Function')
      .map((resource) => planFunction(resource, assets, mappings)),
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

function planBucket(bucket: Resource<'AWS::S3::Bucket'>, template: Template): BucketPlan {
  const { logicalId, name, properties } = bucket;
  const statements = template
    .all('AWS::S3::BucketPolicy')
    .filter((policy) => policy.properties.Bucket === name)
    .flatMap((policy) => policy.properties.PolicyDocument.Statement);
  const blocked = properties.PublicAccessBlockConfiguration?.RestrictPublicBuckets === true;
  const readsForAll = statements.map((statement) => isPublicRead(name, statement));
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
    publicRead: !blocked && readsForAll.includes(true),
  };
}

const TLS_CONDITIONS = ['aws:SecureTransport', 's3:TlsVersion'];

/** @throws an error about a statement of which the local cloud cannot tell what it would do. */
function isPublicRead(bucket: string, statement: Statement): boolean {
  const { Effect, Principal, Action, Resource, Condition } = statement;
  const conditions = Object.values(Condition ?? {}).flatMap((test) => Object.keys(test));
  if (Effect === 'Deny' && conditions.length > 0) {
    if (conditions.every((name) => TLS_CONDITIONS.includes(name))) return false;
  }
  const services = Principal.Service ?? [];
  if (services.length > 0 && services.every((name) => name === 'cloudfront.amazonaws.com')) {
    return false;
  }
  const everyone = Principal.AWS?.includes('*') === true;
  const everything = Resource.includes(`arn:aws:s3:::${bucket}/*`);
  const reads = Action.length === 1 && Action[0] === 's3:GetObject';
  if (Effect === 'Allow' && everyone && everything && reads && conditions.length === 0) return true;
  throw new Error(
    `The local cloud does not know what this statement of the policy of ${bucket} does: ${JSON.stringify(statement)}`,
  );
}

function planQueue({ logicalId, name, identity, properties }: Resource<'AWS::SQS::Queue'>) {
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
    ...(RedrivePolicy ? { deadLetterArn: RedrivePolicy.deadLetterTargetArn } : {}),
  };
}

function planFunction(
  { logicalId, name, identity, properties }: Resource<'AWS::Lambda::Function'>,
  assets: Assets,
  mappings: readonly MappingPlan[],
): FunctionPlan {
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
