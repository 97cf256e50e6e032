import { z } from 'zod';

// The properties that the local cloud acts on, by resource type. The schemas are strict: a property
// that is neither here nor in differences.ts is refused by name.

const integer = z.coerce.number().int();

const corsRule = z.strictObject({
  AllowedHeaders: z.array(z.string()).default([]),
  AllowedMethods: z.array(z.string()),
  AllowedOrigins: z.array(z.string()),
  ExposedHeaders: z.array(z.string()).default([]),
  MaxAge: integer.optional(),
  Id: z.string().optional(),
});
export type CorsRule = z.infer<typeof corsRule>;

const queueNotification = z.strictObject({
  Event: z.string(),
  Queue: z.string(),
  Filter: z
    .strictObject({
      S3Key: z.strictObject({
        Rules: z.array(z.strictObject({ Name: z.enum(['prefix', 'suffix']), Value: z.string() })),
      }),
    })
    .optional(),
});

export const bucket = z.strictObject({
  BucketName: z.string().optional(),
  CorsConfiguration: z.strictObject({ CorsRules: z.array(corsRule) }).optional(),
  NotificationConfiguration: z
    .strictObject({ QueueConfigurations: z.array(queueNotification) })
    .optional(),
  PublicAccessBlockConfiguration: z
    .strictObject({
      BlockPublicAcls: z.boolean().optional(),
      BlockPublicPolicy: z.boolean().optional(),
      IgnorePublicAcls: z.boolean().optional(),
      RestrictPublicBuckets: z.boolean().optional(),
    })
    .optional(),
});

const oneOrMany = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === 'string' ? [value] : value));

const principal = z.preprocess(
  (value) => (value === '*' ? { AWS: '*' } : value),
  z.record(z.string(), oneOrMany),
);

const conditionValue = z
  .union([z.string(), z.number(), z.boolean()])
  .transform(String)
  .pipe(z.string());

const policyStatement = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.enum(['Allow', 'Deny']),
  /** Of the policies of resources only. */
  Principal: principal.optional(),
  Action: oneOrMany.optional(),
  NotAction: oneOrMany.optional(),
  Resource: oneOrMany.optional(),
  NotResource: oneOrMany.optional(),
  Condition: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z
          .union([conditionValue, z.array(conditionValue)])
          .transform((value) => (typeof value === 'string' ? [value] : value)),
      ),
    )
    .optional(),
});
export type PolicyStatement = z.infer<typeof policyStatement>;

const policyDocument = z.strictObject({
  Version: z.literal('2012-10-17'),
  Id: z.string().optional(),
  Statement: z.array(policyStatement),
});

export const bucketPolicy = z.strictObject({ Bucket: z.string(), PolicyDocument: policyDocument });

export const queuePolicy = z.strictObject({
  Queues: z.array(z.string()),
  PolicyDocument: policyDocument,
});

export const role = z.strictObject({
  RoleName: z.string().optional(),
  AssumeRolePolicyDocument: z.strictObject({
    Version: z.literal('2012-10-17'),
    Statement: z.array(
      z.strictObject({
        Effect: z.literal('Allow'),
        Action: z.literal('sts:AssumeRole'),
        Principal: principal,
      }),
    ),
  }),
  ManagedPolicyArns: z.array(z.string()).default([]),
  Policies: z
    .array(z.strictObject({ PolicyName: z.string(), PolicyDocument: policyDocument }))
    .default([]),
});

export const rolePolicy = z.strictObject({
  PolicyName: z.string(),
  PolicyDocument: policyDocument,
  /** Their names. */
  Roles: z.array(z.string()),
});

/** What a service may invoke a function for. */
export const permission = z.strictObject({
  Action: z.literal('lambda:InvokeFunction'),
  FunctionName: z.string(),
  Principal: z.string(),
  SourceArn: z.string().optional(),
});

export const queue = z.strictObject({
  QueueName: z.string().optional(),
  DelaySeconds: integer.optional(),
  MaximumMessageSize: integer.optional(),
  MessageRetentionPeriod: integer.optional(),
  ReceiveMessageWaitTimeSeconds: integer.optional(),
  VisibilityTimeout: integer.optional(),
  RedrivePolicy: z
    .strictObject({ deadLetterTargetArn: z.string(), maxReceiveCount: integer })
    .optional(),
});

const keySchema = z.array(
  z.strictObject({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }),
);
const projection = z.strictObject({
  ProjectionType: z.enum(['ALL', 'KEYS_ONLY', 'INCLUDE']),
  NonKeyAttributes: z.array(z.string()).optional(),
});

export const table = z.strictObject({
  TableName: z.string().optional(),
  AttributeDefinitions: z.array(
    z.strictObject({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) }),
  ),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: z
    .array(z.strictObject({ IndexName: z.string(), KeySchema: keySchema, Projection: projection }))
    .optional(),
  TimeToLiveSpecification: z
    .strictObject({ AttributeName: z.string(), Enabled: z.boolean() })
    .optional(),
});

export const lambdaFunction = z.strictObject({
  FunctionName: z.string().optional(),
  Code: z.strictObject({ S3Bucket: z.string(), S3Key: z.string() }),
  Environment: z
    .strictObject({ Variables: z.record(z.string(), z.coerce.string()).default({}) })
    .optional(),
  Handler: z.string(),
  LoggingConfig: z.strictObject({ LogGroup: z.string().optional() }).default({}),
  MemorySize: integer.default(128),
  ReservedConcurrentExecutions: integer.optional(),
  Role: z.string(),
  Runtime: z.string().regex(/^nodejs/, 'expected a Node.js runtime'),
  Timeout: integer.default(3),
});

export const dashboard = z.strictObject({
  DashboardName: z.string(),
  DashboardBody: z.string(),
});

export const mapping = z.strictObject({
  BatchSize: integer.default(10),
  Enabled: z.boolean().default(true),
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  FunctionResponseTypes: z.array(z.literal('ReportBatchItemFailures')).default([]),
  MaximumBatchingWindowInSeconds: integer.default(0),
  ScalingConfig: z.strictObject({ MaximumConcurrency: integer }).optional(),
});

export const rule = z.strictObject({
  ScheduleExpression: z.string(),
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  Targets: z.array(z.strictObject({ Arn: z.string(), Id: z.string() })),
});

export const api = z.strictObject({
  ProtocolType: z.literal('HTTP'),
  CorsConfiguration: z
    .strictObject({
      AllowCredentials: z.boolean().default(false),
      AllowHeaders: z.array(z.string()).default([]),
      AllowMethods: z.array(z.string()).default([]),
      AllowOrigins: z.array(z.string()).default([]),
      ExposeHeaders: z.array(z.string()).default([]),
      MaxAge: integer.optional(),
    })
    .optional(),
});
export type ApiCors = NonNullable<z.infer<typeof api>['CorsConfiguration']>;

export const integration = z.strictObject({
  ApiId: z.string(),
  IntegrationType: z.literal('AWS_PROXY'),
  IntegrationUri: z.string(),
  PayloadFormatVersion: z.literal('2.0'),
});

/** The API's own tokens only: what a function would decide has no one to ask here. */
export const authorizer = z.strictObject({
  ApiId: z.string(),
  AuthorizerType: z.literal('JWT'),
  IdentitySource: z.array(z.string().regex(/^\$request\.(header|querystring)\.[\w-]+$/)).length(1),
  JwtConfiguration: z.strictObject({ Audience: z.array(z.string()).min(1), Issuer: z.url() }),
});

export const route = z.strictObject({
  ApiId: z.string(),
  AuthorizationScopes: z.array(z.string()).default([]),
  AuthorizationType: z.enum(['NONE', 'JWT', 'AWS_IAM']).default('NONE'),
  AuthorizerId: z.string().optional(),
  RouteKey: z.string(),
  Target: z.string().startsWith('integrations/'),
});

export const stage = z.strictObject({
  ApiId: z.string(),
  StageName: z.literal('$default'),
  DefaultRouteSettings: z
    .strictObject({
      ThrottlingBurstLimit: integer.optional(),
      ThrottlingRateLimit: z.coerce.number().optional(),
      DetailedMetricsEnabled: z.boolean().optional(),
    })
    .optional(),
});

export const distribution = z.strictObject({
  DistributionConfig: z.strictObject({
    CustomErrorResponses: z
      .array(
        z.strictObject({
          ErrorCode: integer,
          ResponseCode: integer,
          ResponsePagePath: z.string().startsWith('/'),
          ErrorCachingMinTTL: integer.optional(),
        }),
      )
      .default([]),
    DefaultCacheBehavior: z.strictObject({ ResponseHeadersPolicyId: z.string().optional() }),
    DefaultRootObject: z.string().optional(),
    Enabled: z.literal(true),
  }),
});

// CloudFront would let a file's own header win; the files that are served here have none of these.
const override = z.boolean();

export const headersPolicy = z.strictObject({
  ResponseHeadersPolicyConfig: z.strictObject({
    CorsConfig: z
      .strictObject({
        AccessControlAllowCredentials: z.boolean(),
        AccessControlAllowHeaders: z.strictObject({ Items: z.array(z.string()) }),
        AccessControlAllowMethods: z.strictObject({ Items: z.array(z.string()) }),
        AccessControlAllowOrigins: z.strictObject({ Items: z.array(z.string()) }),
        OriginOverride: override,
      })
      .optional(),
    CustomHeadersConfig: z
      .strictObject({
        Items: z.array(
          z.strictObject({ Header: z.string(), Value: z.string(), Override: override }),
        ),
      })
      .default({ Items: [] }),
    SecurityHeadersConfig: z
      .strictObject({
        ContentSecurityPolicy: z
          .strictObject({ ContentSecurityPolicy: z.string(), Override: override })
          .optional(),
        ContentTypeOptions: z.strictObject({ Override: override }).optional(),
        FrameOptions: z.strictObject({ FrameOption: z.string(), Override: override }).optional(),
        ReferrerPolicy: z
          .strictObject({ ReferrerPolicy: z.string(), Override: override })
          .optional(),
      })
      .default({}),
  }),
});
export type HeadersPolicy = z.infer<typeof headersPolicy>['ResponseHeadersPolicyConfig'];
