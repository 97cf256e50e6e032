import Anthropic, { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import * as z from 'zod';
import { boundedCall, parseAnswer, unreachableBy } from './bounded-call.ts';
import { openConnections } from './connections.ts';
import type { Answer, Finish, Provider } from './provider.ts';
import { RefusedError } from './provider-error.ts';

export interface AnthropicOptions {
  readonly model: string;
  readonly baseUrl: string;
  readonly callTimeoutMs: number;
  readonly connections: number;
}

const answerSchema = z.object({
  model: z.string(),
  stop_reason: z.string().nullable(),
  // Blocks of other types, and what they hold, come and go.
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  usage: z.object({ input_tokens: z.int().nonnegative(), output_tokens: z.int().nonnegative() }),
});

/** The Messages API. */
export function createAnthropic(options: AnthropicOptions, key: string): Provider {
  const { model, callTimeoutMs } = options;
  const connections = openConnections(options.connections);
  const client = new Anthropic({
    apiKey: key,
    baseURL: options.baseUrl,
    maxRetries: 0,
    // The SDK's own clock is behind ours and so never speaks.
    timeout: callTimeoutMs + 1000,
    fetchOptions: { dispatcher: connections.dispatcher },
    // What is left undefined, the SDK takes from the environment.
    webhookKey: null,
    logLevel: 'off',
    openTelemetry: false,
  });

  return {
    model,
    async complete(request, signal) {
      return boundedCall(
        async (bound) => {
          const { data, response } = await client.messages
            .create(
              {
                model,
                system: request.system,
                messages: [{ role: 'user', content: request.input }],
                max_tokens: request.maxOutputTokens,
              },
              { signal: bound, headers: { 'x-client-request-id': request.row } },
            )
            .withResponse();
          return answerOf(data, Object.fromEntries(response.headers));
        },
        signal,
        callTimeoutMs,
        (error) => failureOf(error, key),
      );
    },
    close: connections.close,
  };
}

function answerOf(data: unknown, limits: Answer['limits']): Answer {
  const { model, content, stop_reason, usage } = parseAnswer(answerSchema, data);
  const text = content
    .filter(({ type }) => type === 'text')
    .map((block) => block.text ?? '')
    .join('');
  return {
    finish: finishOf(stop_reason, text),
    text,
    usage: { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
    model,
    limits,
  };
}

function finishOf(reason: string | null, text: string): Finish {
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
      return text.trim() === '' ? 'empty' : 'done';
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'truncated';
    case 'refusal':
      return 'refused';
    default:
      return 'empty';
  }
}

const errorBody = z.object({ error: z.object({ type: z.string() }) });

function failureOf(error: unknown, key: string): Error | undefined {
  if (error instanceof APIConnectionError) return unreachableBy(error);
  if (!(error instanceof APIError) || error.status === undefined) return undefined;
  const body = errorBody.safeParse(error.error);
  return new RefusedError({
    kind: 'anthropic',
    status: error.status,
    codes: [body.data?.error.type],
    detail: error.message,
    key,
    limits: Object.fromEntries(error.headers ?? []),
  });
}
