import { z } from 'zod';
import type { Levels } from './account.ts';
import {
  badGateway,
  complaint,
  type Dialect,
  duration,
  type ErrorAnswer,
  header,
  MODEL_MAXIMUM,
  type RefusalContext,
  type Told,
  textSchema,
} from './dialect.ts';
import type { Refusal } from './settings.ts';
import { MODEL } from './summarise.ts';

const bodySchema = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: textSchema })).min(1),
  max_tokens: z.int().min(1).optional(),
  max_completion_tokens: z.int().min(1).optional(),
  stream: z.literal(false, 'the simulator does not stream').optional(),
  n: z.literal(1, 'the simulator makes one choice').optional(),
});

/** `POST /v1/chat/completions` */
export const openai: Dialect = {
  name: 'openai',

  read(body) {
    const parsed = bodySchema.safeParse(body);
    if (!parsed.success) return complaint(parsed.error);
    const { messages, max_tokens, max_completion_tokens } = parsed.data;
    const of = (roles: readonly string[]) =>
      messages
        .filter(({ role }) => roles.includes(role))
        .map(({ content }) => content)
        .join('\n');
    return {
      system: of(['system', 'developer']),
      input: of(['user']),
      maxTokens: max_completion_tokens ?? max_tokens ?? MODEL_MAXIMUM,
    };
  },

  row: (headers) => header(headers, 'x-client-request-id'),
  key: (headers) =>
    header(headers, 'authorization').replace(/^Bearer /, '') || header(headers, 'api-key'),

  answer: ({ id, text, ending, inputTokens, outputTokens }) => ({
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: MODEL,
    choices: [
      { index: 0, logprobs: null, finish_reason: FINISH[ending], message: messageOf(ending, text) },
    ],
    usage: {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    },
  }),

  headers: (id, levels) => ({
    'content-type': 'application/json',
    'x-request-id': `req_${id}`,
    ...(levels && rateHeaders(levels)),
  }),

  refuse,
};

const FINISH = {
  done: 'stop',
  truncated: 'length',
  'truncated-null': 'length',
  refusal: 'stop',
  filtered: 'content_filter',
  empty: 'stop',
} as const satisfies Record<Told['ending'], string>;

function messageOf(ending: Told['ending'], text: string) {
  switch (ending) {
    case 'refusal':
      return { role: 'assistant', content: null, refusal: 'I cannot help with that.' };
    case 'truncated-null':
      return { role: 'assistant', content: null, refusal: null };
    default:
      return { role: 'assistant', content: text, refusal: null };
  }
}

function rateHeaders({ requests, tokens }: Levels): Record<string, string> {
  return {
    'x-ratelimit-limit-requests': String(requests.limit),
    'x-ratelimit-remaining-requests': String(requests.remaining),
    'x-ratelimit-reset-requests': duration(requests.resetMs),
    'x-ratelimit-limit-tokens': String(tokens.limit),
    'x-ratelimit-remaining-tokens': String(tokens.remaining),
    'x-ratelimit-reset-tokens': duration(tokens.resetMs),
  };
}

function refuse(refusal: Refusal, context: RefusalContext): ErrorAnswer {
  const invalid = 'invalid_request_error';
  switch (refusal) {
    case 'rate-requests':
      return rate('requests', context);
    case 'rate-tokens':
      return rate('tokens', context);
    case 'quota':
      return error(context, 429, {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      });
    case 'bad-request':
      return error(context, 400, {
        message: context.message ?? 'Your request was rejected by the simulator’s fault plan.',
        type: invalid,
        code: null,
      });
    case 'key-refused':
      return error(context, 401, {
        message: `Incorrect API key provided: ${context.message ?? '****'}.`,
        type: invalid,
        code: 'invalid_api_key',
      });
    case 'forbidden':
      return error(context, 403, {
        message: 'Your project does not have access to this model.',
        type: invalid,
        code: 'model_not_allowed',
      });
    case 'model-not-found':
      return error(context, 404, {
        message: 'The model does not exist or you do not have access to it.',
        type: invalid,
        code: 'model_not_found',
      });
    case 'timeout':
      return error(context, 408, { message: 'Request timeout.', type: 'timeout', code: null });
    case 'conflict':
      return error(context, 409, { message: 'The request conflicts.', type: invalid, code: null });
    case 'too-large':
      return error(context, 413, {
        message: context.message ?? 'Request too large.',
        type: invalid,
        code: 'request_too_large',
      });
    case 'unprocessable':
      return error(context, 422, {
        message: 'The request cannot be processed.',
        type: invalid,
        code: null,
      });
    case 'model-error':
    case 'server-error':
      return error(context, 500, {
        message: 'The server had an error while processing your request. Sorry about that!',
        type: 'server_error',
        code: null,
      });
    case 'bad-gateway':
      return badGateway();
    case 'model-not-ready':
    case 'unavailable':
      return error(context, 503, {
        message: 'The engine is currently overloaded, please try again later.',
        type: 'service_unavailable',
        code: null,
      });
    case 'overloaded':
      return error(context, 529, {
        message: 'The model is overloaded.',
        type: 'overloaded_error',
        code: null,
      });
  }
}

function rate(type: 'requests' | 'tokens', context: RefusalContext): ErrorAnswer {
  const retryAfterMs = Math.ceil(context.retryAfterMs ?? 1000);
  const limit = context.levels?.[type].limit;
  const answer = error(context, 429, {
    message: `Rate limit reached for ${MODEL} on ${type} per min${limit === undefined ? '' : `: Limit ${limit}`}. Please try again in ${duration(retryAfterMs)}.`,
    type,
    code: 'rate_limit_exceeded',
  });
  answer.headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000));
  answer.headers['retry-after-ms'] = String(retryAfterMs);
  return answer;
}

function error(
  { id, levels }: RefusalContext,
  status: number,
  told: { message: string; type: string; code: string | null },
): ErrorAnswer {
  const { message, type, code } = told;
  return {
    status,
    headers: openai.headers(id, levels, 0),
    body: JSON.stringify({ error: { message, type, param: null, code } }),
  };
}
