import { z } from 'zod';
import { PROPERTIES_NOT_RUN, TYPES_NOT_RUN } from '../differences.ts';
import { createResolver, type Identity } from './intrinsics.ts';
import { identityOf, localAddresses, type Origins, physicalName } from './names.ts';
import * as resources from './resources.ts';

const templateSchema = z.looseObject({
  Resources: z.record(
    z.string(),
    z.looseObject({
      Type: z.string(),
      Properties: z.record(z.string(), z.unknown()).default({}),
      Condition: z.string().optional(),
    }),
  ),
  Outputs: z.record(z.string(), z.looseObject({ Value: z.unknown() })).default({}),
});

/** Types that run, and the schema of what is read of each. */
const RUN = {
  'AWS::S3::Bucket': resources.bucket,
  'AWS::S3::BucketPolicy': resources.bucketPolicy,
  'AWS::SQS::Queue': resources.queue,
  'AWS::SQS::QueuePolicy': resources.queuePolicy,
  'AWS::IAM::Role': resources.role,
  'AWS::IAM::Policy': resources.rolePolicy,
  'AWS::DynamoDB::Table': resources.table,
  'AWS::Lambda::Function': resources.lambdaFunction,
  'AWS::Lambda::EventSourceMapping': resources.mapping,
  'AWS::Lambda::Permission': resources.permission,
  'AWS::Events::Rule': resources.rule,
  'AWS::CloudWatch::Dashboard': resources.dashboard,
  'AWS::ApiGatewayV2::Api': resources.api,
  'AWS::ApiGatewayV2::Authorizer': resources.authorizer,
  'AWS::ApiGatewayV2::Integration': resources.integration,
  'AWS::ApiGatewayV2::Route': resources.route,
  'AWS::ApiGatewayV2::Stage': resources.stage,
  'AWS::CloudFront::Distribution': resources.distribution,
  'AWS::CloudFront::ResponseHeadersPolicy': resources.headersPolicy,
} as const;

export type RunType = keyof typeof RUN;
type Properties = { [T in RunType]: z.output<(typeof RUN)[T]> };
const SCHEMAS: { [T in RunType]: z.ZodType<Properties[T]> } = RUN;

export interface Resource<T extends RunType> {
  readonly logicalId: string;
  readonly name: string;
  readonly identity: Identity;
  readonly properties: Properties[T];
}

/** A template read: its resources by type, in the template's order. */
export interface Template {
  all<T extends RunType>(type: T): Resource<T>[];
  readonly outputs: Readonly<Record<string, string>>;
}

/** Types whose names clients use, and the property that gives one. */
const NAME_PROPERTIES: Readonly<Record<string, string>> = {
  'AWS::S3::Bucket': 'BucketName',
  'AWS::SQS::Queue': 'QueueName',
  'AWS::DynamoDB::Table': 'TableName',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::IAM::Role': 'RoleName',
};

/** @throws an error that names the first resource type or property that the local cloud does not know. */
export function readTemplate(input: unknown, stack: string, origins: Origins): Template {
  const { Resources, Outputs } = templateSchema.parse(input);
  const found = Object.entries(Resources);
  for (const [logicalId, { Type, Condition }] of found) {
    refuseUnknownType(logicalId, Type);
    if (Condition !== undefined) {
      throw new Error(`${logicalId} has a condition, which the local cloud does not know.`);
    }
  }

  const names = new Map(
    found.map(([id, { Type, Properties }]) => [id, nameOf(stack, id, Type, Properties)]),
  );
  refuseSharedNames(
    found
      .filter(([, { Type }]) => Object.hasOwn(NAME_PROPERTIES, Type))
      .map(([id, { Type }]) => `${Type} ${names.get(id)}`),
  );
  const identities = new Map(
    found.map(([id, { Type }]) => [id, identityOf(Type, names.get(id) ?? id, id, origins)]),
  );
  const resolve = createResolver(identities, (text) => localAddresses(text, origins));

  return {
    outputs: Object.fromEntries(
      Object.entries(Outputs).map(([name, { Value }]) => [name, String(resolve(Value))]),
    ),
    all(type) {
      return found
        .filter(([, { Type }]) => Type === type)
        .map(([logicalId, { Properties }]) => ({
          logicalId,
          name: names.get(logicalId) ?? logicalId,
          identity: identities.get(logicalId) ?? { ref: logicalId, attributes: {} },
          properties: parseProperties(type, logicalId, Properties, resolve),
        }));
    },
  };
}

function refuseUnknownType(logicalId: string, type: string): void {
  if (Object.hasOwn(RUN, type) || Object.hasOwn(TYPES_NOT_RUN, type)) return;
  throw new Error(
    `The local cloud does not know the resource type ${type} (${logicalId}): run it in local/, or give the reason why not in local/differences.ts.`,
  );
}

function refuseSharedNames(names: readonly string[]): void {
  const shared = names.find((name, index) => names.indexOf(name) < index);
  if (shared !== undefined) throw new Error(`Two resources would both be the ${shared}.`);
}

function nameOf(
  stack: string,
  logicalId: string,
  type: string,
  properties: Record<string, unknown>,
): string {
  const given = properties[NAME_PROPERTIES[type] ?? ''];
  return typeof given === 'string' ? given : physicalName(stack, logicalId);
}

function parseProperties<T extends RunType>(
  type: T,
  logicalId: string,
  properties: Record<string, unknown>,
  resolve: (value: unknown) => unknown,
): Properties[T] {
  const parsed = SCHEMAS[type].safeParse(resolve(withoutNotRun(type, properties)));
  if (parsed.success) return parsed.data;
  throw new Error(`${logicalId} (${type}): ${firstIssue(parsed.error)}`);
}

/** Before anything is resolved: what is not run may well refer to what is not known. */
function withoutNotRun(type: string, properties: Record<string, unknown>): unknown {
  const notRun = PROPERTIES_NOT_RUN[type] ?? {};
  const prune = (value: unknown, path: string): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const kept = Object.entries(value)
      .map(([name, inner]) => [name, inner, path === '' ? name : `${path}.${name}`] as const)
      .filter(([, , where]) => !Object.hasOwn(notRun, where));
    return Object.fromEntries(kept.map(([name, inner, where]) => [name, prune(inner, where)]));
  };
  return prune(properties, '');
}

function firstIssue(error: z.core.$ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'not readable.';
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const property = [...path, issue.keys.join(', ')].join('.');
    return `the local cloud does not know the property ${property}: run it in local/, or give the reason why not in local/differences.ts.`;
  }
  return `${path.join('.')}: ${issue.message}.`;
}
