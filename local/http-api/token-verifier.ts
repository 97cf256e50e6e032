import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { z } from 'zod';

export type Verified =
  /** As the function gets them: all of them text. */
  | { readonly kind: 'good'; readonly claims: Record<string, string>; readonly scopes: string[] }
  | { readonly kind: 'refused'; readonly reason: string };

export type TokenVerifier = (token: string, audience: readonly string[]) => Promise<Verified>;

/** API Gateway takes signatures by RSA alone. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512'];

const discoverySchema = z.looseObject({ issuer: z.string(), jwks_uri: z.url() });

/** Holds tokens against the keys of an issuer, which it asks for where they are once they are needed. */
export function createTokenVerifier(issuer: string): TokenVerifier {
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const keysOf = (): Promise<JWTVerifyGetKey> => {
    keys ??= discover(issuer).catch((error: unknown) => {
      keys = undefined;
      throw error;
    });
    return keys;
  };
  return async (token, audience) => {
    try {
      const { payload } = await jwtVerify(token, await keysOf(), {
        issuer,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp'],
      });
      const reason = refusalOf(payload, audience, Date.now() / 1000);
      if (reason !== undefined) return { kind: 'refused', reason };
      return { kind: 'good', claims: claimsAsText(payload), scopes: scopesOf(payload) };
    } catch (error) {
      if (error instanceof errors.JWTExpired) {
        return { kind: 'refused', reason: 'the token has expired' };
      }
      if (error instanceof errors.JOSEError) return { kind: 'refused', reason: 'invalid token' };
      // The issuer does not answer, and so nobody can be known.
      return { kind: 'refused', reason: 'OIDC discovery endpoint communication error' };
    }
  };
}

async function discover(issuer: string): Promise<JWTVerifyGetKey> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await fetch(address, { signal: AbortSignal.timeout(5000) });
  const { jwks_uri } = discoverySchema.parse(await answer.json());
  return createRemoteJWKSet(new URL(jwks_uri));
}

/** What a signature and a time to expire do not say. */
function refusalOf(
  { aud, client_id, iat }: JWTPayload,
  audience: readonly string[],
  now: number,
): string | undefined {
  // A token that was not made for an audience says for which client it was.
  const claimed = aud === undefined ? [client_id] : [aud].flat();
  if (!claimed.some((each) => typeof each === 'string' && audience.includes(each))) {
    return 'invalid audience';
  }
  return iat !== undefined && iat > now + 1 ? 'the token is issued in the future' : undefined;
}

/** Whatever a claim is, a function gets it as text: a list as `[a b]`. */
function claimsAsText(payload: JWTPayload): Record<string, string> {
  return Object.fromEntries(
    Object.entries(payload).map(([name, value]) => [
      name,
      Array.isArray(value) ? `[${value.map(asText).join(' ')}]` : asText(value),
    ]),
  );
}

const asText = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);

function scopesOf({ scope, scp }: JWTPayload): string[] {
  const given = scope ?? scp;
  if (Array.isArray(given)) return given.map(String);
  return typeof given === 'string' ? given.split(' ').filter((each) => each !== '') : [];
}
