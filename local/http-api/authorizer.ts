import type { IncomingMessage } from 'node:http';
import type { Keys } from '../functions/environment.ts';
import type { Authorization } from '../template/stack.ts';
import { type Answer, plainAnswer } from './answer.ts';
import { createTokenVerifier, type TokenVerifier } from './token-verifier.ts';
import { verifySignature } from './verify-signature.ts';

export type Authorized =
  /** @param context what the function is told of the caller. */
  | { readonly kind: 'admitted'; readonly context: object | undefined }
  | { readonly kind: 'refused'; readonly answer: Answer };

export type Authorize = (
  authorization: Authorization,
  request: IncomingMessage,
  body: Buffer,
) => Promise<Authorized>;

/**
 * Lets in whom API Gateway would, and answers the others as it does.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-jwt-authorizer.html
 *
 * @param keys whose signatures are good, where the API asks for them.
 */
export function createAuthorizer(keys: readonly Keys[]): Authorize {
  const verifiers = new Map<string, TokenVerifier>();
  const verifierOf = (issuer: string): TokenVerifier => {
    const verifier = verifiers.get(issuer) ?? createTokenVerifier(issuer);
    verifiers.set(issuer, verifier);
    return verifier;
  };
  return async (authorization, request, body) => {
    switch (authorization.kind) {
      case 'none':
        return { kind: 'admitted', context: undefined };
      case 'iam': {
        const iam = await verifySignature(request, body, keys, new Date());
        return iam === undefined
          ? { kind: 'refused', answer: plainAnswer(403, 'Forbidden') }
          : { kind: 'admitted', context: { iam } };
      }
      case 'jwt': {
        const token = tokenOf(authorization, request);
        if (token === undefined) return unauthorized('');
        const verified = await verifierOf(authorization.issuer)(token, authorization.audience);
        if (verified.kind === 'refused')
          return unauthorized(` error="invalid_token" error_description="${verified.reason}"`);
        const { claims, scopes } = verified;
        if (
          authorization.scopes.length > 0 &&
          !authorization.scopes.some((scope) => scopes.includes(scope))
        ) {
          return { kind: 'refused', answer: plainAnswer(403, 'Forbidden') };
        }
        return {
          kind: 'admitted',
          context: { jwt: { claims, scopes: scopes.length === 0 ? null : scopes } },
        };
      }
    }
  };
}

function tokenOf(
  { source }: Extract<Authorization, { kind: 'jwt' }>,
  request: IncomingMessage,
): string | undefined {
  if (source.in === 'querystring') {
    const query = (request.url ?? '').split('?').slice(1).join('?');
    return new URLSearchParams(query).get(source.name) ?? undefined;
  }
  const header = request.headers[source.name];
  return typeof header === 'string' ? header.replace(/^bearer\s+/i, '') : undefined;
}

function unauthorized(why: string): Authorized {
  const { headers, ...answer } = plainAnswer(401, 'Unauthorized');
  return {
    kind: 'refused',
    answer: { ...answer, headers: { ...headers, 'www-authenticate': `Bearer${why}` } },
  };
}
