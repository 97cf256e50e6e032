import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Compute } from '../compute.ts';
import type { Keys } from '../functions/environment.ts';
import { type MayInvoke, routeArn } from '../iam/invocations.ts';
import type { ApiPlan } from '../template/stack.ts';
import { type Answer, answerOf, plainAnswer } from './answer.ts';
import { createAuthorizer } from './authorizer.ts';
import { corsHeaders, isPreflight, preflightHeaders } from './cors.ts';
import { apiEvent } from './event.ts';
import { createMatcher } from './routes.ts';
import { createThrottle } from './throttle.ts';

/** API Gateway's limit for a request's body. Lambda's own, 6 MB for the whole event, comes earlier. */
const BODY_LIMIT = 10 * 1024 * 1024;
/** An integration's longest on an HTTP API, whatever the function's own timeout. */
const INTEGRATION_LIMIT_MS = 30_000;

/** Answers as API Gateway's HTTP API does, with the template's routes, CORS and throttling. */
export function createHttpApi(
  plan: ApiPlan,
  { pools, warmUpBehind }: Pick<Compute, 'pools' | 'warmUpBehind'>,
  mayInvoke: MayInvoke,
  answered: (status: number, milliseconds: number) => void,
  keys: readonly Keys[] = [],
): RequestListener {
  const match = createMatcher(plan.routes);
  const authorize = createAuthorizer(keys);
  const admit = plan.throttle === undefined ? () => true : createThrottle(plan.throttle);

  const answer = async (request: IncomingMessage): Promise<Answer> => {
    if (!admit()) return plainAnswer(429, 'Too Many Requests');
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const route = match(request.method ?? 'GET', path);
    if (route === undefined) return plainAnswer(404, 'Not Found');
    const body = await readBody(request);
    const authorized = await authorize(route.authorization, request, body ?? Buffer.alloc(0));
    if (authorized.kind === 'refused') return authorized.answer;
    if (body === undefined) return plainAnswer(413, 'Request Entity Too Large');
    const pool = pools.get(route.functionName);
    const permitted = mayInvoke(route.functionName, routeArn(plan.id, route.key));
    if (pool === undefined || !permitted) return plainAnswer(500, 'Internal Server Error');
    // Who only looks causes nothing.
    if (request.method !== 'GET') warmUpBehind(route.functionName);
    const event = JSON.stringify(apiEvent(request, body, plan.id, route, authorized.context));
    return inTime(pool.invoke(event).then(answerOf));
  };

  /** The route for all else takes them too, and a browser brings no token. */
  const takesPreflights = ({ method = '', url = '/' }: IncomingMessage): boolean => {
    const route = match(method, url.split('?', 1)[0] ?? '/');
    return route?.key === '$default' && route.authorization.kind !== 'none';
  };

  return (request, response) => {
    const { origin } = request.headers;
    if (plan.cors !== undefined && isPreflight(request) && !takesPreflights(request)) {
      response.writeHead(204, preflightHeaders(plan.cors, origin)).end();
      return;
    }
    const began = performance.now();
    answer(request)
      .catch(() => plainAnswer(500, 'Internal Server Error'))
      .then((ready) => {
        // Whoever left before all was sent called nothing, and nothing is counted.
        if (request.destroyed && !request.complete) return;
        answered(ready.status, performance.now() - began);
        send(response, ready, plan, origin);
      });
  };
}

function send(
  response: ServerResponse,
  { status, headers, body }: Answer,
  { cors }: ApiPlan,
  origin: string | undefined,
): void {
  for (const [name, value] of Object.entries(headers)) {
    // With CORS configured, API Gateway ignores what the function says about it.
    if (cors !== undefined && name.startsWith('access-control-')) continue;
    response.setHeader(name, value);
  }
  for (const [name, value] of Object.entries(corsHeaders(cors, origin))) {
    response.setHeader(name, value);
  }
  response.setHeader('content-length', body.length);
  response.writeHead(status).end(body);
}

/** Nothing if it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= BODY_LIMIT) chunks.push(chunk);
  }
  return size > BODY_LIMIT ? undefined : Buffer.concat(chunks);
}

function inTime(answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const late = () => resolve(plainAnswer(503, 'Service Unavailable'));
    const timer = setTimeout(late, INTEGRATION_LIMIT_MS);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
