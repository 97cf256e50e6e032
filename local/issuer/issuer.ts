import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { IssuerKey } from './issuer-key.ts';
import { DEVELOPER, PEOPLE, type Person } from './people.ts';
import { peoplePage } from './people-page.ts';
import { CLIENT, TOKEN_LIFETIME, type Tokens } from './tokens.ts';

// OpenID Connect as far as pages need it: a code with PKCE, refreshing, signing out. Nobody has a
// password, and who has not chosen is the developer, so that a start opens no form.

/** Milliseconds in which a code has to be exchanged. */
const CODE_LIFETIME = 60_000;
const COOKIE = 'glimpse-person';

interface Code {
  readonly person: Person;
  readonly challenge: string;
  readonly redirectUri: string;
  readonly nonce: string | undefined;
  readonly until: number;
}

const authorizeQuery = z.looseObject({
  response_type: z.literal('code'),
  client_id: z.literal(CLIENT),
  redirect_uri: z
    .url()
    .refine((address) => /^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?\//.test(address), {
      error: 'expected an address on this machine',
    }),
  code_challenge: z.string().min(43),
  code_challenge_method: z.literal('S256'),
  state: z.string().optional(),
  nonce: z.string().optional(),
  prompt: z.string().optional(),
  person: z.string().optional(),
});

const tokenForm = z.discriminatedUnion('grant_type', [
  z.looseObject({
    grant_type: z.literal('authorization_code'),
    client_id: z.literal(CLIENT),
    code: z.string(),
    redirect_uri: z.string(),
    code_verifier: z.string(),
  }),
  z.looseObject({
    grant_type: z.literal('refresh_token'),
    client_id: z.literal(CLIENT),
    refresh_token: z.string(),
  }),
]);

export function createIssuer(origin: string, key: IssuerKey, tokens: Tokens): RequestListener {
  const codes = new Map<string, Code>();

  const authorize = (request: IncomingMessage, response: ServerResponse, url: URL): void => {
    const parsed = authorizeQuery.safeParse(Object.fromEntries(url.searchParams));
    if (!parsed.success) {
      sendJson(response, 400, { error: 'invalid_request', at: parsed.error.issues[0]?.path });
      return;
    }
    const asked = parsed.data;
    const chosen = PEOPLE.find(({ id }) => id === asked.person);
    if (chosen === undefined && /login|select_account/.test(asked.prompt ?? '')) {
      sendHtml(response, peoplePage(url));
      return;
    }
    const person = chosen ?? PEOPLE.find(({ id }) => id === cookieOf(request)) ?? DEVELOPER;
    if (chosen !== undefined) {
      response.setHeader(
        'set-cookie',
        `${COOKIE}=${chosen.id}; Path=/authorize; HttpOnly; SameSite=Lax`,
      );
    }
    const code = randomUUID();
    const now = Date.now();
    for (const [old, { until }] of codes) if (until < now) codes.delete(old);
    codes.set(code, {
      person,
      challenge: asked.code_challenge,
      redirectUri: asked.redirect_uri,
      nonce: asked.nonce,
      until: now + CODE_LIFETIME,
    });
    redirect(response, asked.redirect_uri, {
      code,
      iss: origin,
      ...(asked.state === undefined ? {} : { state: asked.state }),
    });
  };

  const exchange = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    const asked = tokenForm.safeParse(form).data;
    const granted =
      asked === undefined
        ? undefined
        : asked.grant_type === 'refresh_token'
          ? { person: await tokens.refreshed(asked.refresh_token), nonce: undefined }
          : redeem(codes, asked);
    if (granted?.person === undefined) {
      sendJson(response, 400, { error: 'invalid_grant' });
      return;
    }
    const { person, nonce } = granted;
    sendJson(response, 200, {
      access_token: await tokens.access(person),
      id_token: await tokens.id(person, nonce),
      refresh_token: await tokens.refresh(person),
      token_type: 'Bearer',
      expires_in: TOKEN_LIFETIME,
      scope: 'openid',
    });
  };

  const signOut = (response: ServerResponse, { searchParams }: URL): void => {
    response.setHeader('set-cookie', `${COOKIE}=; Path=/authorize; Max-Age=0`);
    const back = z
      .url()
      .regex(/^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?\//)
      .safeParse(searchParams.get('post_logout_redirect_uri'));
    if (back.success) redirect(response, back.data, {});
    else sendJson(response, 200, { signedOut: true });
  };

  return (request, response) => {
    const url = new URL(request.url ?? '/', origin);
    response.setHeader('cache-control', 'no-store');
    // Tokens are for whoever has a code and its verifier, whatever page that is.
    response.setHeader('access-control-allow-origin', '*');
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return sendJson(response, 200, discovery(origin));
      case '/jwks.json':
        return sendJson(response, 200, { keys: [key.public] });
      case '/authorize':
        return authorize(request, response, url);
      case '/token':
        if (request.method === 'POST') {
          exchange(request, response).catch(() =>
            sendJson(response, 500, { error: 'server_error' }),
          );
          return;
        }
        return sendJson(response, 405, { error: 'invalid_request' });
      case '/sign-out':
        return signOut(response, url);
      default:
        return sendJson(response, 404, { error: 'not_found' });
    }
  };
}

const discovery = (origin: string) => ({
  issuer: origin,
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  end_session_endpoint: `${origin}/sign-out`,
  jwks_uri: `${origin}/jwks.json`,
  response_types_supported: ['code'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  authorization_response_iss_parameter_supported: true,
});

/** A code is good once, for whoever began with it. */
function redeem(
  codes: Map<string, Code>,
  asked: { code: string; redirect_uri: string; code_verifier: string },
): Pick<Code, 'person' | 'nonce'> | undefined {
  const code = codes.get(asked.code);
  codes.delete(asked.code);
  if (code === undefined || code.until < Date.now()) return undefined;
  if (code.redirectUri !== asked.redirect_uri) return undefined;
  const challenge = createHash('sha256').update(asked.code_verifier).digest('base64url');
  return challenge === code.challenge ? code : undefined;
}

function cookieOf({ headers }: IncomingMessage): string | undefined {
  return new RegExp(`(?:^|; )${COOKIE}=([a-z]+)`).exec(headers.cookie ?? '')?.[1];
}

function redirect(response: ServerResponse, to: string, parameters: Record<string, string>): void {
  const location = new URL(to);
  for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
  response.writeHead(302, { location: location.href }).end();
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendHtml(response: ServerResponse, html: string): void {
  response
    .writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    })
    .end(html);
}
