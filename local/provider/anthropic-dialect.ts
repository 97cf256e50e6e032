import { z } from 'zod';
import type { Level, Levels } from './account.ts';
import {
  badGateway,
  complaint,
  type Dialect,
  type ErrorAnswer,
  header,
  type RefusalContext,
  type Told,
  textSchema,
} from './dialect.ts';
import type { Refusal } from './settings.ts';
import { MODEL } from './summarise.ts';

const bodySchema = z.object({
  model: z.string(),
  max_tokens: z.int().min(1),
  system: textSchema.default(''),
  messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: textSchema })).min(1),
  stream: z.literal(false, 'the simulator does not stream').optional(),
});

/** `POST /v1/messages` */
export const anthropic: Dialect = {
  name: 'anthropic',

  read(body) {
    const parsed = bodySchema.safeParse(body);
    if (!parsed.success) return complaint(parsed.error);
    const { system, messages, max_tokens } = parsed.data;
    const input = messages
      .filter(({ role }) => role === 'user')
      .map(({ content }) => content)
      .join('\n');
    return { system, input, maxTokens: max_tokens };
  },

  row: (headers) => header(headers, 'x-client-request-id'),
  key: (headers) =>
    header(headers, 'x-api-key') || header(headers, 'authorization').replace(/^Bearer /, ''),

  answer: ({ id, text, ending, inputTokens, outputTokens }) => ({
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: MODEL,
    content: hasText(ending) ? [{ type: 'text', text }] : [],
    stop_reason: STOP[ending],
    stop_sequence: null,
    usage: {
      input_tokens: inputTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: outputTokens,
    },
  }),

  headers: (id, levels, now) => ({
    'content-type': 'application/json',
    'request-id': `req_${id}`,
    ...(levels && rateHeaders(levels, now)),
  }),

  refuse,
};

const STOP = {
  done: 'end_turn',
  truncated: 'max_tokens',
  'truncated-null': 'max_tokens',
  // Anthropic has one word for both.
  refusal: 'refusal',
  filtered: 'refusal',
  empty: 'end_turn',
} as const satisfies Record<Told['ending'], string>;

function hasText(ending: Told['ending']): boolean {
  return ending === 'done' || ending === 'truncated';
}

/** The account has one allowance of tokens; both kinds are taken from it, and both headers show it. */
function rateHeaders({ requests, tokens }: Levels, now: number): Record<string, string> {
  const headers: Record<string, string> = {};
  const show = (name: string, { limit, remaining, resetMs }: Level) => {
    headers[`anthropic-ratelimit-${name}-limit`] = String(limit);
    headers[`anthropic-ratelimit-${name}-remaining`] = String(remaining);
    headers[`anthropic-ratelimit-${name}-reset`] = rfc3339(now + resetMs);
  };
  show('requests', requests);
  show('tokens', tokens);
  show('input-tokens', tokens);
  show('output-tokens', tokens);
  return headers;
}

/** In whole seconds, upwards: at that time it is full. */
function rfc3339(epochMs: number): string {
  const seconds = Math.ceil(epochMs / 1000);
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

function refuse(refusal: Refusal, context: RefusalContext): ErrorAnswer {
  switch (refusal) {
    case 'rate-requests':
      return rate('requests', context);
    case 'rate-tokens':
      return rate('input tokens', context);
    case 'quota':
      // Told from a rate by the absence of retry-after.
      return error(context, 429, 'rate_limit_error', 'Your spend limit has been reached.');
    case 'bad-request':
      return error(
        context,
        400,
        'invalid_request_error',
        context.message ?? 'Rejected by the simulator’s fault plan.',
      );
    case 'key-refused':
      return error(context, 401, 'authentication_error', 'invalid x-api-key');
    case 'forbidden':
      return error(context, 403, 'permission_error', 'Your key may not use this resource.');
    case 'model-not-found':
      return error(context, 404, 'not_found_error', 'model: not found');
    case 'timeout':
      return error(context, 408, 'timeout_error', 'The request timed out.');
    case 'conflict':
      return error(context, 409, 'conflict_error', 'The request conflicts.');
    case 'too-large':
      return error(context, 413, 'request_too_large', context.message ?? 'Request too large.');
    case 'unprocessable':
      return error(context, 422, 'invalid_request_error', 'The request cannot be processed.');
    case 'model-error':
    case 'server-error':
      return error(context, 500, 'api_error', 'Internal server error');
    case 'bad-gateway':
      return badGateway();
    case 'model-not-ready':
    case 'unavailable':
      return error(context, 503, 'api_error', 'Service unavailable');
    case 'overloaded':
      return error(context, 529, 'overloaded_error', 'Overloaded');
  }
}

function rate(what: string, context: RefusalContext): ErrorAnswer {
  const message = `This request would exceed your organization’s rate limit of ${what} per minute.`;
  const answer = error(context, 429, 'rate_limit_error', message);
  answer.headers['retry-after'] = String(Math.ceil((context.retryAfterMs ?? 1000) / 1000));
  return answer;
}

function error(
  { id, levels }: RefusalContext,
  status: number,
  type: string,
  message: string,
): ErrorAnswer {
  return {
    status,
    headers: anthropic.headers(id, levels, Date.now()),
    body: JSON.stringify({ type: 'error', error: { type, message }, request_id: `req_${id}` }),
  };
}
