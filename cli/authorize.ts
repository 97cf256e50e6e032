import { S3Client } from '@aws-sdk/client-s3';
import { signRequest } from '../shared/signing/sign-request.ts';
import { type Target, UsageError } from './target.ts';

/** The headers by which a request to the API is let in. */
export type Authorize = (url: URL) => Promise<Record<string, string>>;

/**
 * Who a command is to the API: the developer to the local cloud; elsewhere whose token GLIMPSE_TOKEN is,
 * or whose AWS credentials there are.
 *
 * @throws UsageError where there is no token and one is asked for.
 */
export function authorizeFor(
  { outputs, endpoints, description }: Target,
  { GLIMPSE_TOKEN }: { GLIMPSE_TOKEN?: string | undefined },
): Authorize {
  switch (outputs.ApiAuthentication) {
    case 'none':
      return async () => ({});
    case 'jwt': {
      const token = GLIMPSE_TOKEN || endpoints?.token;
      if (token === undefined) {
        throw new UsageError(
          `Expected GLIMPSE_TOKEN, a token that the API of ${description} lets in, got none.`,
        );
      }
      return async () => ({ authorization: `Bearer ${token}` });
    }
    case 'iam':
      return async (url) => {
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
      };
  }
}

/** What the SDK finds on this machine. */
async function found() {
  const { config } = new S3Client({});
  const [credentials, region] = await Promise.all([config.credentials(), config.region()]);
  return { credentials, region };
}
