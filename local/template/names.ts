import { ACCOUNT, type Identity, REGION } from './intrinsics.ts';

/** Where clients find the engines: what queue URLs and the API's address are made from. */
export interface Origins {
  readonly web: string;
  readonly api: string;
  readonly s3: string;
  readonly sqs: string;
  readonly issuer: string;
}

/** AWS's addresses, as a template puts them together, and who answers for them here. */
const ADDRESSES = [
  [new RegExp(`https://[a-z0-9.-]+\\.s3\\.${REGION}\\.amazonaws\\.com`, 'g'), 's3'],
  [/https:\/\/[a-z0-9]+\.cloudfront\.net/g, 'web'],
  // Nobody's: cdk/local-differences.ts has it where the configuration has an issuer of its own.
  [/https:\/\/issuer\.glimpse\.invalid/g, 'issuer'],
] as const;

/** Text with the addresses of buckets and of the distribution replaced by those on this machine. */
export function localAddresses(text: string, origins: Origins): string {
  return ADDRESSES.reduce((replaced, [aws, name]) => replaced.replace(aws, origins[name]), text);
}

/** `ThumbnailsOriginalsE1FF839A` without the hash that CDK adds. */
export function logicalName(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, '') || logicalId;
}

/**
 * What people call these resources: `ThumbnailsOnDemandQueue…` is `onDemand`, as the leading word is
 * the domain and everyone knows a queue, or a table. Where two would be called the same, the domain stays.
 */
export function shortNames(logicalIds: readonly string[]): ReadonlyMap<string, string> {
  const long = logicalIds.map((id) =>
    lowerFirst(logicalName(id).replace(/(?<=.)(Queue|Table)$/, '')),
  );
  const short = long.map((name) => lowerFirst(name.replace(/^[a-z]+(?=[A-Z])/, '')));
  const unique = (name: string) => short.indexOf(name) === short.lastIndexOf(name);
  return new Map(
    logicalIds.map((id, index) => {
      const name = short[index] ?? id;
      return [id, unique(name) ? name : (long[index] ?? id)];
    }),
  );
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** CloudFormation would append random characters; here the same name comes back at each start. */
export function physicalName(stack: string, logicalId: string): string {
  const words = logicalName(logicalId).replace(/([a-z0-9])(?=[A-Z])/g, '$1-');
  return `${stack}-${words}`.toLowerCase().slice(0, 63);
}

type Identify = (name: string, logicalId: string, origins: Origins) => Identity;

const named: Identify = (name) => ({ ref: name, attributes: {} });
const withArn =
  (arn: (name: string) => string): Identify =>
  (name) => ({ ref: name, attributes: { Arn: arn(name) } });

const regional = (service: string, rest: string) =>
  `arn:aws:${service}:${REGION}:${ACCOUNT}:${rest}`;

const IDENTITIES: Readonly<Record<string, Identify>> = {
  'AWS::S3::Bucket': (name) => ({
    ref: name,
    attributes: {
      Arn: `arn:aws:s3:::${name}`,
      DomainName: `${name}.s3.amazonaws.com`,
      RegionalDomainName: `${name}.s3.${REGION}.amazonaws.com`,
    },
  }),
  'AWS::SQS::Queue': (name, _id, origins) => ({
    ref: `${origins.sqs}/${ACCOUNT}/${name}`,
    attributes: { Arn: regional('sqs', name), QueueName: name },
  }),
  'AWS::DynamoDB::Table': withArn((name) => regional('dynamodb', `table/${name}`)),
  'AWS::Lambda::Function': withArn((name) => regional('lambda', `function:${name}`)),
  'AWS::Events::Rule': withArn((name) => regional('events', `rule/${name}`)),
  'AWS::ApiGatewayV2::Api': (_name, id, origins) => ({
    ref: id,
    attributes: { ApiId: id, ApiEndpoint: origins.api },
  }),
  'AWS::CloudFront::Distribution': (name, id) => ({
    ref: id,
    attributes: {
      Id: id,
      DomainName: `${name.replaceAll('-', '')}.cloudfront.net`,
    },
  }),
  'AWS::IAM::Role': withArn((name) => `arn:aws:iam::${ACCOUNT}:role/${name}`),
  'AWS::Logs::LogGroup': withArn((name) => regional('logs', `log-group:${name}:*`)),
};

export function identityOf(
  type: string,
  name: string,
  logicalId: string,
  origins: Origins,
): Identity {
  return (IDENTITIES[type] ?? named)(name, logicalId, origins);
}
