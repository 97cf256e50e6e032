import * as oauth from 'oauth4webapi';
import type { SignIn } from '../shell/config.ts';
import type { Tokens } from './session.ts';

// The way to an OpenID Connect issuer and back: a code, exchanged with a proof that only this browser has.

/** What is remembered from the way there to the way back. */
export interface Pending {
  readonly state: string;
  readonly verifier: string;
  readonly nonce: string;
  /** A path of these pages. */
  readonly returnTo: string;
  /** In a window of its own, beside a page that waits. */
  readonly beside: boolean;
}

/** Where the issuer sends a browser back to: it has to know this address. */
const callback = () => `${location.origin}/signin.html`;

/** Only an issuer on this machine may be one without TLS. */
const options = ({ issuer }: SignIn) => ({
  [oauth.allowInsecureRequests]: /^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?(\/|$)/.test(issuer),
});

async function discover(signIn: SignIn): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(signIn.issuer);
  const answer = await oauth.discoveryRequest(issuer, options(signIn));
  return await oauth.processDiscoveryResponse(issuer, answer);
}

const clientOf = ({ clientId }: SignIn): oauth.Client => ({ client_id: clientId });

/** The address at which somebody signs in, and what to remember until they are back. */
export async function beginSignIn(
  signIn: SignIn,
  { returnTo, beside, prompt }: { returnTo: string; beside: boolean; prompt?: string },
): Promise<{ address: string; pending: Pending }> {
  const { authorization_endpoint: endpoint } = await discover(signIn);
  if (endpoint === undefined) throw new Error('The issuer has no authorization endpoint.');
  const pending = {
    state: oauth.generateRandomState(),
    verifier: oauth.generateRandomCodeVerifier(),
    nonce: oauth.generateRandomNonce(),
    returnTo,
    beside,
  };
  const address = new URL(endpoint);
  const parameters = {
    client_id: signIn.clientId,
    redirect_uri: callback(),
    response_type: 'code',
    scope: signIn.scope,
    // Some issuers make a token for an API only if it is named; the others pass it over.
    audience: signIn.audience,
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
    state: pending.state,
    nonce: pending.nonce,
    ...(prompt === undefined ? {} : { prompt }),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return { address: address.href, pending };
}

/** @param answer the parameters that the browser came back with. Rejects where they are not what was begun. */
export async function endSignIn(
  signIn: SignIn,
  pending: Pending,
  answer: URLSearchParams,
): Promise<Tokens> {
  const server = await discover(signIn);
  const client = clientOf(signIn);
  const parameters = oauth.validateAuthResponse(server, client, answer, pending.state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    callback(),
    pending.verifier,
    options(signIn),
  );
  const wantsIdentity = signIn.scope.split(' ').includes('openid');
  return tokensOf(
    await oauth.processAuthorizationCodeResponse(
      server,
      client,
      response,
      wantsIdentity ? { expectedNonce: pending.nonce, requireIdToken: true } : {},
    ),
  );
}

/** Without anybody doing anything. Rejects where the issuer wants to see somebody again. */
export async function refresh(
  signIn: SignIn,
  { refreshToken, ...before }: Tokens,
): Promise<Tokens> {
  if (refreshToken === undefined) throw new Error('There is nothing to refresh it by.');
  const server = await discover(signIn);
  const client = clientOf(signIn);
  const response = await oauth.refreshTokenGrantRequest(
    server,
    client,
    oauth.None(),
    refreshToken,
    options(signIn),
  );
  const answer = await oauth.processRefreshTokenResponse(server, client, response);
  // What the issuer does not renew stays as it was.
  return { ...before, refreshToken, ...tokensOf(answer, before.who) };
}

/** Where to sign out of the issuer's own session, if it has such a place. */
export async function signOutAddress(
  signIn: SignIn,
  { idToken }: Pick<Tokens, 'idToken'>,
): Promise<string> {
  const back = `${callback()}?signed-out`;
  const { end_session_endpoint: endpoint } = await discover(signIn);
  if (endpoint === undefined) return back;
  const address = new URL(endpoint);
  address.searchParams.set('client_id', signIn.clientId);
  address.searchParams.set('post_logout_redirect_uri', back);
  // Cognito's name for it.
  address.searchParams.set('logout_uri', back);
  if (idToken !== undefined) address.searchParams.set('id_token_hint', idToken);
  return address.href;
}

/** Seconds, where an issuer does not say how long its token is good. */
const USUAL_LIFETIME = 3600;

function tokensOf(answer: oauth.TokenEndpointResponse, before?: string): Tokens {
  const { access_token, refresh_token, id_token, expires_in = USUAL_LIFETIME } = answer;
  const who = nameOf(oauth.getValidatedIdTokenClaims(answer)) ?? before;
  return {
    accessToken: access_token,
    expiresAt: Date.now() + expires_in * 1000,
    ...(refresh_token === undefined ? {} : { refreshToken: refresh_token }),
    ...(id_token === undefined ? {} : { idToken: id_token }),
    ...(who === undefined ? {} : { who }),
  };
}

function nameOf(claims: oauth.IDToken | undefined): string | undefined {
  const names = [claims?.name, claims?.preferred_username, claims?.email, claims?.sub];
  return names.find((name) => typeof name === 'string' && name !== '')?.toString();
}
