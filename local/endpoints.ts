import type { Keys } from './functions/environment.ts';
import { REGION } from './template/intrinsics.ts';
import { logicalName, shortNames } from './template/names.ts';
import type { StackPlan } from './template/stack.ts';

/** What `.glimpse/endpoints.json` says: everything that a client needs to know. */
export interface CloudEndpoints {
  readonly web: string;
  readonly api: string;
  readonly s3: string;
  readonly sqs: string;
  readonly dynamodb: string;
  /** The model provider's. */
  readonly provider: string;
  readonly ssm: string;
  /** Who signs the tokens that the API asks for. */
  readonly issuer: string;
  readonly region: string;
  /** Names, by short name: `originals`. */
  readonly buckets: Readonly<Record<string, string>>;
  /** URLs, by short name: `onDemand`. */
  readonly queues: Readonly<Record<string, string>>;
  readonly tables: Readonly<Record<string, string>>;
  /** Physical names, by logical name: `ThumbnailsWorker`. */
  readonly functions: Readonly<Record<string, string>>;
  readonly credentials: Keys;
  /** The developer's, an hour long and renewed in time, where the API asks for one. */
  readonly token?: string;
  /** The stack's outputs, as `cdk deploy --outputs-file` would write them. */
  readonly outputs: Readonly<Record<string, string>>;
}

/** The developer's: what `credentials` of endpoints.json says. Good on this machine only. */
export const DEVELOPER_KEYS: Keys = {
  accessKeyId: 'glimpse-developer',
  secretAccessKey: 'good-on-this-machine-only',
};

type Origins = Pick<
  CloudEndpoints,
  'web' | 'api' | 's3' | 'sqs' | 'dynamodb' | 'provider' | 'ssm' | 'issuer'
>;

export function describeEndpoints(origins: Origins, plan: StackPlan): CloudEndpoints {
  return {
    ...origins,
    region: REGION,
    buckets: byShortName(plan.buckets, ({ name }) => name),
    queues: byShortName(plan.queues, ({ url }) => url),
    tables: byShortName(plan.tables, ({ name }) => name),
    functions: Object.fromEntries(
      plan.functions.map(({ logicalId, name }) => [logicalName(logicalId), name]),
    ),
    credentials: DEVELOPER_KEYS,
    outputs: plan.outputs,
  };
}

function byShortName<T extends { logicalId: string }>(
  plans: readonly T[],
  value: (plan: T) => string,
): Record<string, string> {
  const names = shortNames(plans.map(({ logicalId }) => logicalId));
  return Object.fromEntries(
    plans.map((plan) => [names.get(plan.logicalId) ?? plan.logicalId, value(plan)]),
  );
}
