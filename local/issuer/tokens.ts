import { jwtVerify, SignJWT } from 'jose';
import { ALGORITHM, type IssuerKey } from './issuer-key.ts';
import { PEOPLE, type Person } from './people.ts';

/** Seconds that a token is good for. */
export const TOKEN_LIFETIME = 3600;
const REFRESH_LIFETIME = 30 * 86_400;

const AUDIENCE = 'glimpse';
export const CLIENT = 'glimpse-pages';
const REFRESH_AUDIENCE = 'glimpse-refresh';

export interface Tokens {
  /** For the API. @param claims in the place of the usual ones; `undefined` leaves one out. */
  access(person: Person, claims?: Readonly<Record<string, unknown>>): Promise<string>;
  /** For the pages, to know who it is. */
  id(person: Person, nonce: string | undefined): Promise<string>;
  /** For new ones of both kinds. */
  refresh(person: Person): Promise<string>;
  /** Whom a token of the last kind was given to. */
  refreshed(token: string): Promise<Person | undefined>;
}

export function createTokens(issuer: string, key: IssuerKey): Tokens {
  const sign = (claims: Readonly<Record<string, unknown>>): Promise<string> => {
    const { kid = '' } = key.public;
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
      .sign(key.private);
  };
  const usual = ({ id }: Person, audience: string, lifetime: number) => {
    const now = Math.floor(Date.now() / 1000);
    return { iss: issuer, sub: id, aud: audience, iat: now, nbf: now, exp: now + lifetime };
  };
  return {
    access: (person, claims) =>
      sign({
        ...usual(person, AUDIENCE, TOKEN_LIFETIME),
        client_id: CLIENT,
        scope: 'openid',
        ...person.claims,
        ...claims,
      }),
    id: (person, nonce) =>
      sign({
        ...usual(person, CLIENT, TOKEN_LIFETIME),
        name: person.name,
        ...(nonce === undefined ? {} : { nonce }),
      }),
    refresh: (person) => sign(usual(person, REFRESH_AUDIENCE, REFRESH_LIFETIME)),
    async refreshed(token) {
      try {
        const { payload } = await jwtVerify(token, key.public, {
          issuer,
          audience: REFRESH_AUDIENCE,
          algorithms: [ALGORITHM],
        });
        return PEOPLE.find(({ id }) => id === payload.sub);
      } catch {
        return undefined;
      }
    },
  };
}
