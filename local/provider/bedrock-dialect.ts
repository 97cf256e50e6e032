import { z } from 'zod';
import {
  badGateway,
  complaint,
  type Dialect,
  type ErrorAnswer,
  header,
  MODEL_MAXIMUM,
  type RefusalContext,
  type Told,
} from './dialect.ts';
import type { Refusal } from './settings.ts';

const blocks = z
  .array(z.object({ text: z.string() }))
  .transform((parts) => parts.map(({ text }) => text).join(''));

const bodySchema = z.object({
  system: blocks.default(''),
  messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: blocks })).min(1),
  inferenceConfig: z.object({ maxTokens: z.int().min(1).optional() }).default({}),
});

const metadataSchema = z.object({ requestMetadata: z.object({ row: z.string() }) });

/** `POST /model/{id}/converse` */
export const bedrock: Dialect = {
  name: 'bedrock',

  read(body) {
    const parsed = bodySchema.safeParse(body);
    if (!parsed.success) return complaint(parsed.error);
    const { system, messages, inferenceConfig } = parsed.data;
    const input = messages
      .filter(({ role }) => role === 'user')
      .map(({ content }) => content)
      .join('\n');
    // Unset, the model's own maximum is taken from the allowance.
    return { system, input, maxTokens: inferenceConfig.maxTokens ?? MODEL_MAXIMUM };
  },

  row: (_headers, body) => metadataSchema.safeParse(body).data?.requestMetadata.row ?? '',
  key(headers) {
    const authorization = header(headers, 'authorization');
    return (
      /Credential=([^/,\s]+)/.exec(authorization)?.[1] ?? authorization.replace(/^Bearer /, '')
    );
  },

  answer: ({ text, ending, inputTokens, outputTokens, tookMs }) => ({
    output: { message: { role: 'assistant', content: text === '' ? [] : [{ text }] } },
    stopReason: STOP[ending],
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    metrics: { latencyMs: Math.round(tookMs) },
  }),

  // Bedrock does not tell what remains.
  headers: (id) => ({ 'content-type': 'application/json', 'x-amzn-requestid': id }),

  refuse,
};

const STOP = {
  done: 'end_turn',
  truncated: 'max_tokens',
  'truncated-null': 'max_tokens',
  refusal: 'content_filtered',
  filtered: 'guardrail_intervened',
  empty: 'end_turn',
} as const satisfies Record<Told['ending'], string>;

function refuse(refusal: Refusal, context: RefusalContext): ErrorAnswer {
  switch (refusal) {
    case 'rate-requests':
      return error(context, 429, 'ThrottlingException', 'Too many requests, please wait.');
    case 'rate-tokens':
      return error(context, 429, 'ThrottlingException', 'Too many tokens, please wait.');
    case 'quota':
      return error(context, 400, 'ServiceQuotaExceededException', 'Service quota exceeded.');
    case 'model-not-ready':
      return error(context, 429, 'ModelNotReadyException', 'The model is not ready.');
    case 'bad-request':
    case 'unprocessable':
      return error(
        context,
        400,
        'ValidationException',
        context.message ?? 'Rejected by the simulator’s fault plan.',
      );
    case 'key-refused':
      return error(context, 403, 'UnrecognizedClientException', 'The token is invalid.');
    case 'forbidden':
      return error(context, 403, 'AccessDeniedException', 'You may not use this model.');
    case 'model-not-found':
      return error(context, 404, 'ResourceNotFoundException', 'The model was not found.');
    case 'timeout':
      return error(context, 408, 'ModelTimeoutException', 'The model took too long.');
    case 'conflict':
      return error(context, 400, 'ConflictException', 'The request conflicts.');
    case 'too-large':
      return error(context, 413, 'RequestEntityTooLargeException', 'Request too large.');
    case 'model-error':
      return error(context, 424, 'ModelErrorException', 'The model failed.');
    case 'server-error':
      return error(context, 500, 'InternalServerException', 'Internal server error.');
    case 'bad-gateway':
      return badGateway();
    case 'unavailable':
    case 'overloaded':
      return error(context, 503, 'ServiceUnavailableException', 'Bedrock is unavailable.');
  }
}

function error({ id }: RefusalContext, status: number, name: string, message: string): ErrorAnswer {
  return {
    status,
    headers: { ...bedrock.headers(id, undefined, 0), 'x-amzn-errortype': name },
    body: JSON.stringify({ message }),
  };
}
