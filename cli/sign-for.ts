import { S3Client } from '@aws-sdk/client-s3';
import { signRequest } from '../shared/signing/sign-request.ts';
import type { Target } from './target.ts';

/** The headers by which AWS credentials ask for a URL: the developer's, or those of the environment. */
export async function signFor(
  url: URL,
  endpoints: Target['endpoints'],
): Promise<Record<string, string>> {
  const { credentials, region } = endpoints ?? (await found());
  const signed = await signRequest(
    credentials,
    region,
    { method: 'GET', url, headers: {}, body: '' },
    new Date(),
  );
  // fetch has one of its own, which is the same.
  const { host: _, ...headers } = signed;
  return headers;
}

/** What the SDK finds on this machine. @throws one sentence where that is nothing. */
async function found() {
  const { config } = new S3Client({});
  try {
    const [credentials, region] = await Promise.all([config.credentials(), config.region()]);
    return { credentials, region };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `The request cannot be signed: ${why.replace(/\.?$/, '.')} Choose an account by AWS_PROFILE and a region by AWS_REGION.`,
      { cause },
    );
  }
}
