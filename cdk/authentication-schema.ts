import { z } from 'zod';

const OPEN = "for an API that is open to everyone write authentication: {kind: 'none'}";

/** Blank in the file, which names nobody's issuer; requireIssuer refuses that where it matters. */
const issuer = z
  .string()
  .regex(
    /^$|^https:\/\/[^\s?#]+$/,
    'expected the https address of an OpenID Connect issuer, as its tokens have it in iss',
  );

const origin = z
  .string()
  .regex(/^https:\/\/[a-z0-9.-]+(:\d{1,5})?$/i, 'expected an origin, https and without a path');

/** Who may call the API. There is no default: an open one has to be written out. */
export const authenticationSchema = z.discriminatedUnion(
  'kind',
  [
    /** Whoever brings a token of this issuer for this audience. */
    z.strictObject({
      kind: z.literal('jwt'),
      issuer,
      /** What its tokens have in `aud`, or in `client_id`. */
      audience: z.string().regex(/^\S*$/, 'expected an audience without spaces'),
      /** How the pages sign in: as a public client, by a code and PKCE. */
      pages: z.strictObject({
        clientId: z.string().regex(/^\S*$/, 'expected the id of a client, without spaces'),
        scope: z.string(),
        /** Of the issuer's token endpoint, where that is elsewhere than the issuer. */
        origins: z.array(origin).max(5),
      }),
    }),
    /** Whoever signs with AWS credentials that may call it. */
    z.strictObject({ kind: z.literal('iam') }),
    /** Everyone. */
    z.strictObject({ kind: z.literal('none') }),
  ],
  {
    error: `expected {kind: 'jwt', issuer, audience, pages}, {kind: 'iam'}, or, for an API that is open to everyone, {kind: 'none'}`,
  },
);

const NAMES: Readonly<Record<string, string>> = { clientId: 'client id' };

export type Authentication = z.output<typeof authenticationSchema>;

/**
 * `-c issuer=… -c audience=… -c clientId=…`, or the options of `npm run deploy`, are for one deployment what
 * the file is for all.
 *
 * @throws one sentence where the file asks for no tokens: whoever names an issuer means the API to be closed.
 */
export function withContext(
  authentication: z.input<typeof authenticationSchema>,
  context: (name: string) => unknown,
): unknown {
  if (authentication.kind !== 'jwt') {
    const given = ['issuer', 'audience', 'clientId'].find((name) => context(name) !== undefined);
    if (given === undefined) return authentication;
    throw new Error(
      `cdk/config.ts: authentication: expected {kind: 'jwt', …} where the ${NAMES[given] ?? given} of one deployment is given, got {kind: '${authentication.kind}'}.`,
    );
  }
  const { issuer, audience, pages } = authentication;
  return {
    ...authentication,
    issuer: context('issuer') ?? issuer,
    audience: context('audience') ?? audience,
    pages: { ...pages, clientId: context('clientId') ?? pages.clientId },
  };
}

/** @throws one sentence that says what to write, where whoever calls could not be told */
export function requireIssuer({
  authentication,
  pages,
}: {
  authentication: Authentication;
  pages: unknown;
}): void {
  if (authentication.kind !== 'jwt') return;
  const refuse = (path: string, expected: string, option: string): Error =>
    new Error(
      `cdk/config.ts: authentication.${path}: expected ${expected}, in the file or by --${option} of "npm run deploy", got nothing; ${OPEN}.`,
    );
  if (authentication.issuer === '') {
    throw refuse(
      'issuer',
      'the address of your OpenID Connect issuer, such as https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Example',
      'issuer',
    );
  }
  if (authentication.audience === '') {
    throw refuse('audience', 'what the tokens for this API have in aud or client_id', 'audience');
  }
  if (pages !== false && authentication.pages.clientId === '') {
    throw refuse(
      'pages.clientId',
      'the id by which the pages are known to the issuer',
      'client-id',
    );
  }
}
