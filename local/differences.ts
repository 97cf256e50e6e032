// What the local cloud does not do as AWS does, all of it. A resource type or a property that is
// neither run nor listed here stops the start with an error that names it (template/read.ts).

const NO_CDN =
  'a laptop has no CDN: the thumbnails bucket answers itself, and the pages are served from where they are built';

/** Resource types that the template may hold and that nothing runs for, with the reason. */
export const TYPES_NOT_RUN: Readonly<Record<string, string>> = {
  'AWS::Logs::LogGroup': 'logs are files, bounded by size instead of by age',
  'AWS::CloudWatch::Alarm': 'alarms are not evaluated; dashboards show their thresholds',
  'AWS::Logs::QueryDefinition': 'logs are files, which anything that reads text can search',
  'AWS::CDK::Metadata': 'statistics for AWS',
  'AWS::CloudFront::OriginAccessControl': NO_CDN,
};

const ENCRYPTION = 'nothing is encrypted at rest';
const DESCRIPTION = 'a description for people';
const TAGS = 'tags change nothing';

/** Properties of types that do run, by their path, with the reason that the property does not. */
export const PROPERTIES_NOT_RUN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'AWS::S3::Bucket': {
    BucketEncryption: ENCRYPTION,
    LifecycleConfiguration: 'objects and unfinished uploads stay until `--reset`',
    OwnershipControls: 'one account owns everything',
    Tags: TAGS,
  },
  'AWS::IAM::Role': { Description: DESCRIPTION, Tags: TAGS },
  'AWS::SQS::Queue': {
    SqsManagedSseEnabled: ENCRYPTION,
    KmsMasterKeyId: ENCRYPTION,
    RedriveAllowPolicy: 'any queue of the template may name any other as its dead-letter queue',
    Tags: TAGS,
  },
  'AWS::DynamoDB::Table': {
    BillingMode: 'nothing is billed, and capacity is what this machine has',
    PointInTimeRecoverySpecification: 'nothing is backed up',
    SSESpecification: ENCRYPTION,
    DeletionProtectionEnabled: 'only `--reset` deletes a table',
    Tags: TAGS,
  },
  'AWS::Lambda::Function': {
    Architectures: "functions run on this machine's processor",
    Description: DESCRIPTION,
    TracingConfig: 'nothing is traced',
    Tags: TAGS,
  },
  'AWS::Lambda::EventSourceMapping': { Tags: TAGS },
  'AWS::Events::Rule': { Description: DESCRIPTION },
  'AWS::ApiGatewayV2::Api': { Name: DESCRIPTION, Description: DESCRIPTION, Tags: TAGS },
  'AWS::ApiGatewayV2::Authorizer': { Name: DESCRIPTION },
  'AWS::ApiGatewayV2::Stage': {
    AutoDeploy: 'a start deploys',
    AccessLogSettings: 'requests are not logged',
    Tags: TAGS,
  },
  'AWS::CloudFront::Distribution': {
    'DistributionConfig.Comment': DESCRIPTION,
    'DistributionConfig.HttpVersion': 'HTTP/1.1 is spoken',
    'DistributionConfig.IPV6Enabled': 'only 127.0.0.1 answers',
    'DistributionConfig.Origins': NO_CDN,
    'DistributionConfig.PriceClass': NO_CDN,
    'DistributionConfig.DefaultCacheBehavior.CachePolicyId': 'nothing is cached but by browsers',
    'DistributionConfig.DefaultCacheBehavior.Compress': 'nothing is compressed',
    'DistributionConfig.DefaultCacheBehavior.TargetOriginId': NO_CDN,
    'DistributionConfig.DefaultCacheBehavior.ViewerProtocolPolicy': 'only HTTP is spoken',
    Tags: TAGS,
  },
  'AWS::CloudFront::ResponseHeadersPolicy': {
    'ResponseHeadersPolicyConfig.Comment': DESCRIPTION,
    'ResponseHeadersPolicyConfig.Name': DESCRIPTION,
    'ResponseHeadersPolicyConfig.SecurityHeadersConfig.StrictTransportSecurity':
      'only HTTP is spoken, on which browsers ignore it',
  },
};

/** Differences of behaviour that no property shows. */
export const DIFFERENCES: readonly string[] = [
  'The addresses of buckets and of the distribution, wherever the template puts one together (the pages’ configuration, their Content-Security-Policy, the outputs), are those of S3 and of the pages on this machine.',
  'The pages bucket stays empty: the pages are served from where they are built. /about, /endpoints.json and /sample exist here only, and /config.json names the last.',
  'Every call counts as made over TLS where a policy insists on it (aws:SecureTransport, s3:TlsVersion): what is spoken on this machine is HTTP.',
  "The developer's credentials are an administrator's, and known to all on this machine. A function's are its role's, good until the stop; Lambda renews them within hours.",
  'A mapping whose role may not read its queue and notifications that the queue does not admit stop the start; AWS refuses to deploy them.',
  'The model provider verifies neither signatures nor permissions: a missing bedrock:InvokeModel shows on AWS only.',
  'A DynamoDB behind DYNAMODB_ENDPOINT is guarded only on the way through the local cloud.',
  'An upload in signed chunks is verified by its seed signature, not chunk by chunk.',
  'A checksum by CRC-32C or CRC-64/NVME is neither verified nor kept.',
  'Who signs in has the tokens from an issuer on this machine, which asks for no password; by AWS credentials, everyone whose signature is right may call each route.',
  'The keys of an issuer are fetched again when a token names one that is not known; API Gateway may keep them for two hours.',
  "S3's test event, which AWS sends to the queue when a stack is deployed, is not sent.",
  "An object above 10 MiB has a multipart upload's ETag, however it was uploaded.",
  'An upload form is held in memory while it is checked, so 512 MB is the largest.',
  'Buckets are those of the template; creating and deleting them is refused, as is all bucket configuration.',
  'SQS keeps messages until they are received, whatever the retention period.',
  'SQS refuses characters beyond U+FFFF in bodies; AWS takes them.',
  'A standard queue gives next the oldest message of the group that has the fewest under way, a message without a group being one of its own; AWS does so roughly, once one group has far more under way than the others.',
  'Events and answers of more than 6 MB pass.',
  'A start makes visible again what was in flight when the last one ended: nobody is left who received it.',
  'An index of a table is up to date at once; on AWS it follows a moment later.',
  'SSM knows the parameters that variables of functions name (…_PARAMETER): each with a made-up key of its own, or all with GLIMPSE_PROVIDER_KEY.',
  'The model provider has the accounts that the chunk workers are told of, and tells them apart by their keys alone. Modes that spend two accounts by another model, address or region, or with GLIMPSE_PROVIDER_KEY, meet the first of them together.',
  'The model provider is the one on this machine, whatever address is configured.',
  'A mapping has at most as many pollers as this machine has cores, and no fewer than two, whatever its maximum concurrency. For a function with less memory than comes with a core (1,769 MB) it is twice as many as the cores have room for its share: it is taken to wait on the network.',
  'A schedule runs first one interval after the start. A run that is due while the last one goes on is left out, and one that failed is not repeated; AWS would start the one and repeat the other twice.',
  'Functions without a reservation share two processes a core and wait for a free one; AWS would throttle them beyond the account limit.',
  'Functions fed by queues run at a lower priority, so that they leave processor time to the API; on AWS each has its own.',
  'A process of each function but those of imports is started ahead of its first call, and one of each of those that read what a function may send when that is called by a queue or to change something.',
  'Processes of functions fed by queues start as many at once as there are cores; on AWS each start has a processor of its own.',
  'An idle function is not frozen: its timers run on.',
  'Memory is read a few times a second, on Linux only, so a short peak may pass unseen.',
  'Metrics are kept in memory, from a start to the end of it, for three hours at most; percentiles are right to one per cent. Those of SQS are measured every five seconds instead of every minute.',
  'Metrics of AWS’s services are those that dashboards show: of Lambda, SQS and the HTTP API.',
  'A change takes effect at the next start.',
];
