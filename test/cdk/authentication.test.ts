import { App } from 'aws-cdk-lib';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { withContext } from '../../cdk/authentication-schema.ts';
import { config } from '../../cdk/config.ts';
import { type ConfigInput, parseConfig } from '../../cdk/config-schema.ts';
import { GlimpseStack } from '../../cdk/glimpse-stack.ts';
import { AUTHENTICATION, templateOf } from './synth.ts';

const routeSchema = z.object({
  Properties: z.object({ RouteKey: z.string(), AuthorizationType: z.string().default('NONE') }),
});

/** By what each route lets somebody in. */
function authorizations(template: Template): Map<string, string> {
  const routes = Object.values(template.findResources('AWS::ApiGatewayV2::Route'));
  return new Map(
    routes
      .map((route) => routeSchema.parse(route).Properties)
      .map(({ RouteKey, AuthorizationType }) => [RouteKey, AuthorizationType]),
  );
}

const openRoutes = (template: Template) =>
  [...authorizations(template)].filter(([, type]) => type === 'NONE').map(([key]) => key);

/** What a browser asks before it may send a token. It is answered with nothing. */
const PREFLIGHT = 'OPTIONS /{proxy+}';

describe('an unauthenticated route', () => {
  test('there is none in the template, but for preflights', () => {
    const template = templateOf();
    expect(openRoutes(template)).toEqual([PREFLIGHT]);
    expect(authorizations(template).get('$default')).toBe('JWT');
    expect(authorizations(template).size).toBe(19);
  });

  test('there is none that takes no AWS credentials, where those are asked for', () => {
    const template = templateOf({ changes: { authentication: { kind: 'iam' }, pages: false } });
    expect(openRoutes(template)).toEqual([PREFLIGHT]);
    expect(authorizations(template).get('GET /imports')).toBe('AWS_IAM');
    template.resourceCountIs('AWS::ApiGatewayV2::Authorizer', 0);
  });

  test('is found wherever there is one', () => {
    const template = templateOf({ changes: { authentication: { kind: 'none' } } });
    expect(openRoutes(template)).toHaveLength(18);
  });
});

test('tokens are those of the configured issuer and audience, in the header, or in the address of a plain img alone', () => {
  const template = templateOf();
  const JwtConfiguration = { Audience: ['glimpse'], Issuer: 'https://issuer.example/pool' };
  for (const source of ['header.Authorization', 'querystring.token']) {
    template.hasResourceProperties('AWS::ApiGatewayV2::Authorizer', {
      AuthorizerType: 'JWT',
      IdentitySource: [`$request.${source}`],
      JwtConfiguration,
    });
  }
  const [byAddress] = Object.keys(
    template.findResources('AWS::ApiGatewayV2::Authorizer', {
      Properties: { IdentitySource: ['$request.querystring.token'] },
    }),
  );
  const taking = template.findResources('AWS::ApiGatewayV2::Route', {
    Properties: { AuthorizerId: { Ref: byAddress } },
  });
  expect(
    Object.values(taking).map((route) => routeSchema.parse(route).Properties.RouteKey),
  ).toEqual(['GET /img']);
});

test('a browser may ask to send a token, and functions know what the stack asks for', () => {
  const template = templateOf();
  template.hasResourceProperties('AWS::ApiGatewayV2::Api', {
    CorsConfiguration: Match.objectLike({ AllowHeaders: ['authorization', 'content-type'] }),
  });
  for (const folder of ['thumbnail-api', 'import-api']) {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({ POWERTOOLS_SERVICE_NAME: folder, AUTHENTICATION: 'jwt' }),
      },
    });
  }
});

describe('a stack is refused in one sentence', () => {
  const refused = (changes: Partial<ConfigInput>, local = false) => {
    try {
      const parsed = parseConfig({ ...config, ...changes });
      new GlimpseStack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Glimpse', {
        config: parsed,
        local,
      });
      return 'nothing';
    } catch (error) {
      return error instanceof Error ? error.message : 'no error';
    }
  };

  test('where the file has no issuer, with what to write', () => {
    expect(refused({})).toBe(
      'cdk/config.ts: authentication.issuer: expected the address of your OpenID Connect issuer, such as https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Example, in the file or by --issuer of "npm run deploy", got nothing; for an API that is open to everyone write authentication: {kind: \'none\'}.',
    );
    expect(refused({ authentication: { ...AUTHENTICATION, audience: '' } as never })).toMatch(
      /^cdk\/config\.ts: authentication\.audience: expected .* --audience of "npm run deploy", got nothing; /,
    );
    expect(
      refused({
        authentication: {
          ...AUTHENTICATION,
          pages: { clientId: '', scope: 'openid', origins: [] },
        } as never,
      }),
    ).toMatch(/^cdk\/config\.ts: authentication\.pages\.clientId: expected .* --client-id of /);
  });

  test('where nobody has said who may call', () => {
    expect(refused({ authentication: undefined as never })).toBe(
      "cdk/config.ts: authentication: expected {kind: 'jwt', issuer, audience, pages}, {kind: 'iam'}, or, for an API that is open to everyone, {kind: 'none'}, but it is not set.",
    );
  });

  test('where the issuer is none, or pages would have to sign with AWS credentials', () => {
    expect(refused({ authentication: { ...AUTHENTICATION, issuer: 'http://x' } as never })).toBe(
      'cdk/config.ts: authentication.issuer: expected the https address of an OpenID Connect issuer, as its tokens have it in iss, got "http://x".',
    );
    expect(refused({ authentication: { kind: 'iam' } })).toBe(
      "cdk/config.ts: pages: expected false with authentication of the kind 'iam', got pages: browsers have no AWS credentials to sign with.",
    );
  });
});

test('the context of one deployment has precedence over the file', () => {
  const context: Record<string, string> = { issuer: 'https://other.example', clientId: 'web' };
  expect(withContext(AUTHENTICATION, (name) => context[name])).toEqual({
    kind: 'jwt',
    issuer: 'https://other.example',
    audience: 'glimpse',
    pages: { clientId: 'web', scope: 'openid', origins: [] },
  });
  expect(withContext({ kind: 'none' }, () => undefined)).toEqual({ kind: 'none' });
});

test('an issuer for one deployment is refused where the file has the API open to everyone', () => {
  const given: Record<string, string> = { clientId: 'web' };
  expect(() => withContext({ kind: 'none' }, (name) => given[name])).toThrow(
    "cdk/config.ts: authentication: expected {kind: 'jwt', …} where the client id of one deployment is given, got {kind: 'none'}.",
  );
});
