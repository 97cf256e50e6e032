import { GetParametersCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { UsageError } from '../target.ts';

/** Where `cdk bootstrap` writes down that it was there. */
const BOOTSTRAP = '/cdk-bootstrap/hnb659fds/version';

export interface Foundation {
  isBootstrapped: boolean;
  /** Parameters that the stack names and the account lacks. */
  missingKeys: string[];
}

/**
 * What the account has of that which the stack expects and does not make.
 *
 * @param keys the parameters of providers' keys.
 * @throws UsageError where AWS cannot be asked.
 */
export async function lookAhead(ssm: SSMClient, keys: readonly string[]): Promise<Foundation> {
  const asked = [BOOTSTRAP, ...new Set(keys)];
  const found = await ssm.send(new GetParametersCommand({ Names: asked })).catch((cause) => {
    throw new UsageError(
      `AWS cannot be asked what this account has: ${cause instanceof Error ? cause.message : cause} Choose an account by AWS_PROFILE and a region by AWS_REGION.`,
      { cause },
    );
  });
  const missing = found.InvalidParameters ?? [];
  return {
    isBootstrapped: !missing.includes(BOOTSTRAP),
    missingKeys: missing.filter((name) => name !== BOOTSTRAP),
  };
}
