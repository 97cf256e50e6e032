import type { Target } from './target.ts';
import { UsageError } from './usage-error.ts';

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
        // The SDK is for this one alone.
        const { signFor } = await import('./sign-for.ts');
        return await signFor(url, endpoints);
      };
  }
}
