import type { S3Client } from '@aws-sdk/client-s3';
import { GetParametersCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { SilentError } from '../aws-failure.ts';
import { isMissing } from '../buckets.ts';
import { UsageError } from '../usage-error.ts';

/** Where `cdk bootstrap` writes down that it was there. */
const BOOTSTRAP = '/cdk-bootstrap/hnb659fds/version';

export interface Foundation {
  isBootstrapped: boolean;
  /** Parameters that the stack names and the account lacks. */
  missingKeys: string[];
}

/** @throws UsageError that names the first bucket of the configuration's `adopt` that is not there. */
export async function requireBuckets(
  s3: S3Client,
  adopt: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  for (const [purpose, bucket] of Object.entries(adopt)) {
    if (bucket !== undefined && (await isMissing(s3, bucket))) {
      throw new UsageError(
        `cdk/config.ts: adopt.${purpose}: expected a bucket that there is, got "${bucket}".`,
      );
    }
  }
}

/** Of the first thing that AWS is asked: there is no account or region, most likely, where there is an answer. */
export function cannotBeAsked(cause: unknown): never {
  if (cause instanceof SilentError) throw cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  throw new Error(
    `AWS cannot be asked what this account has: ${why.replace(/\.?$/, '.')} Choose an account by AWS_PROFILE and a region by AWS_REGION.`,
    { cause },
  );
}

/**
 * What the account has of that which the stack expects and does not make.
 *
 * @param keys the parameters of providers' keys.
 * @throws where AWS cannot be asked.
 */
export async function lookAhead(ssm: SSMClient, keys: readonly string[]): Promise<Foundation> {
  const asked = [BOOTSTRAP, ...new Set(keys)];
  const found = await ssm.send(new GetParametersCommand({ Names: asked })).catch(cannotBeAsked);
  const missing = found.InvalidParameters ?? [];
  return {
    isBootstrapped: !missing.includes(BOOTSTRAP),
    missingKeys: missing.filter((name) => name !== BOOTSTRAP),
  };
}
