import { httpApi, lambda, type Resources } from '../fixture-stack.ts';

const ECHO = `
export const handler = async (event) => {
  const { answer, sleepMs, fail } = JSON.parse(event.queryStringParameters?.do ?? '{}');
  if (sleepMs) await new Promise((done) => setTimeout(done, sleepMs));
  if (fail) throw new Error('asked to fail');
  return answer === undefined ? { event } : answer;
};`;

/** What every API of its test calls. */
export const echo = {
  SummariesEcho: lambda('echo', { ReservedConcurrentExecutions: 3, Timeout: 1 }),
};

const HEADER = 'ByHeader';
const authorizer = (source: string) => ({
  Type: 'AWS::ApiGatewayV2::Authorizer',
  Properties: {
    ApiId: { Ref: 'Api' },
    AuthorizerType: 'JWT',
    IdentitySource: [source],
    JwtConfiguration: { Audience: ['glimpse'], Issuer: 'https://issuer.glimpse.invalid' },
    Name: source,
  },
});
const byHeader = { AuthorizationType: 'JWT', AuthorizerId: { Ref: HEADER } };

/** Whom the routes of its test let through, which are there for whoever asks who calls. */
const guards: Record<string, Record<string, unknown>> = {
  'GET /open': {},
  'GET /closed': byHeader,
  'GET /scoped': { ...byHeader, AuthorizationScopes: ['read', 'openid'] },
  'GET /address': { AuthorizationType: 'JWT', AuthorizerId: { Ref: 'ByAddress' } },
  'GET /signed': { AuthorizationType: 'AWS_IAM' },
  $default: byHeader,
};

/** The one API of a cloud. @param others open routes of other tests. */
export function guardedApi(others: Record<string, string>): Resources {
  const routes = Object.keys(guards).map((key) => [key, 'SummariesEcho']);
  const api = httpApi(
    { ...Object.fromEntries(routes), ...others },
    { CorsConfiguration: { AllowOrigins: ['*'], AllowHeaders: ['authorization'] } },
  );
  for (const { Properties } of Object.values(api)) {
    Object.assign(Properties, guards[String(Properties.RouteKey)]);
  }
  return {
    ...api,
    [HEADER]: authorizer('$request.header.Authorization'),
    ByAddress: authorizer('$request.querystring.token'),
  };
}

export const code = { echo: ECHO };
