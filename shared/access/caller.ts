import * as z from 'zod';
import { UnauthenticatedError } from '../errors.ts';
import { type Prefixes, parsePrefixes } from './prefixes.ts';

export const authenticationKind = z.enum(['jwt', 'iam', 'none']);
export type AuthenticationKind = z.infer<typeof authenticationKind>;

/** As a request brings it, already proven: nothing here checks a signature. */
export type Identity =
  | { kind: 'jwt'; claims: Readonly<Record<string, string>> }
  | { kind: 'iam'; accountId: string; callerId: string }
  | { kind: 'none'; sourceIp: string };

/** Who calls, and what they may. */
export interface Caller {
  /** Whose requests are counted together. No two kinds of callers have one in common. */
  readonly id: string;
  /** Whom their imports belong to; nobody, where everyone is one. */
  readonly owner: string | undefined;
  /** Galleries that they may see. */
  readonly views: Prefixes;
  /** Galleries that they may upload to. */
  readonly uploads: Prefixes;
  /** Looks after the imports of all. */
  readonly operator: boolean;
}

/**
 * @param asks what the stack lets in. A request without that identity came past API Gateway's
 *   authorizer, or by a route that has none.
 * @throws UnauthenticatedError
 */
export function callerOf(asks: AuthenticationKind, identity: Identity): Caller {
  if (identity.kind !== asks && asks !== 'none') throw new UnauthenticatedError(EXPECTED[asks]);
  switch (identity.kind) {
    case 'jwt':
      return byClaims(identity.claims);
    case 'iam':
      return byKey(identity);
    case 'none':
      return { ...everyone, id: `ip:${identity.sourceIp}` };
  }
}

const EXPECTED = {
  jwt: 'expected a token of the configured issuer, got none',
  iam: 'expected a request that is signed with AWS credentials, got none',
};

const everyone = { owner: undefined, views: 'all', uploads: 'all', operator: true } as const;

function byClaims(claims: Readonly<Record<string, string>>): Caller {
  const { sub } = claims;
  if (sub === undefined || sub === '') {
    throw new UnauthenticatedError(
      'expected a token that says in sub whose it is, got one without',
    );
  }
  const id = `sub:${sub}`;
  return {
    id,
    owner: id,
    views: parsePrefixes(claims.glimpse_galleries),
    uploads: parsePrefixes(claims.glimpse_uploads),
    operator: claims.glimpse_operator === 'true',
  };
}

/** An application: what it may call is for its policy to say. Of a role's sessions each has the role's id. */
function byKey({ accountId, callerId }: { accountId: string; callerId: string }): Caller {
  const id = `iam:${accountId}:${callerId.split(':', 1)[0]}`;
  return { id, owner: id, views: 'all', uploads: 'all', operator: false };
}

/** Whether an import is one that they may see and change. One that was made before there were owners is nobody's. */
export function mayHandle(
  { operator, owner }: Pick<Caller, 'operator' | 'owner'>,
  of: { owner?: string | undefined },
): boolean {
  return operator || (owner !== undefined && of.owner === owner);
}
