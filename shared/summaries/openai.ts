import OpenAI, { APIConnectionError, APIError } from 'openai';
import * as z from 'zod';
import { boundedCall, parseAnswer, unreachableBy } from './bounded-call.ts';
import { openConnections } from './connections.ts';
import { estimateTokens } from './estimate.ts';
import type { Answer, Finish, Provider, SummaryRequest } from './provider.ts';
import { RefusedError } from './provider-error.ts';

export interface OpenAiOptions {
  readonly model: string;
  /** Of OpenAI, Azure (`…/openai/v1/`), vLLM, Ollama (`…/v1`) or Bedrock's compatible endpoint. */
  readonly baseUrl: string;
  /** OpenAI's newer models take only the first, many compatible servers only the second. */
  readonly outputLimit: 'max_completion_tokens' | 'max_tokens';
  readonly callTimeoutMs: number;
  readonly connections: number;
}

const answerSchema = z.object({
  model: z.string(),
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
      }),
    )
    .min(1),
  usage: z
    .object({ prompt_tokens: z.int().nonnegative(), completion_tokens: z.int().nonnegative() })
    .nullish(),
});

/** Chat completions. @param key absent for servers that want none. */
export function createOpenAi(options: OpenAiOptions, key: string | undefined): Provider {
  const { model, outputLimit, callTimeoutMs } = options;
  const connections = openConnections(options.connections);
  const client = new OpenAI({
    apiKey: key ?? 'none',
    baseURL: options.baseUrl,
    maxRetries: 0,
    // The SDK's own clock is behind ours and so never speaks.
    timeout: callTimeoutMs + 1000,
    fetchOptions: { dispatcher: connections.dispatcher },
    // What is left undefined, the SDK takes from the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    ...(key === undefined ? { defaultHeaders: { authorization: null } } : {}),
  });

  return {
    model,
    async complete(request, signal) {
      return boundedCall(
        async (bound) => {
          const { data, response } = await client.chat.completions
            .create(
              {
                model,
                messages: [
                  { role: 'system', content: request.system },
                  { role: 'user', content: request.input },
                ],
                [outputLimit]: request.maxOutputTokens,
              },
              { signal: bound, headers: { 'x-client-request-id': request.row } },
            )
            .withResponse();
          return answerOf(data, request, Object.fromEntries(response.headers));
        },
        signal,
        callTimeoutMs,
        (error) => failureOf(error, key),
      );
    },
    close: connections.close,
  };
}

function answerOf(data: unknown, request: SummaryRequest, limits: Answer['limits']): Answer {
  const { model, choices, usage } = parseAnswer(answerSchema, data);
  const [choice] = choices;
  const text = choice?.message.content ?? '';
  return {
    finish: finishOf(choice?.finish_reason ?? '', text, choice?.message.refusal ?? ''),
    text,
    usage: {
      inputTokens: usage?.prompt_tokens ?? estimateTokens(request.system + request.input),
      outputTokens: usage?.completion_tokens ?? estimateTokens(text),
    },
    model,
    limits,
  };
}

function finishOf(reason: string, text: string, refusal: string): Finish {
  if (refusal !== '') return 'refused';
  switch (reason) {
    case 'stop':
      return text.trim() === '' ? 'empty' : 'done';
    case 'length':
      return 'truncated';
    case 'content_filter':
      return 'filtered';
    default:
      return 'empty';
  }
}

function failureOf(error: unknown, key: string | undefined): Error | undefined {
  if (error instanceof APIConnectionError) return unreachableBy(error);
  if (!(error instanceof APIError) || error.status === undefined) return undefined;
  return new RefusedError({
    kind: 'openai',
    status: error.status,
    codes: [error.code, error.type],
    detail: error.message,
    key,
    limits: Object.fromEntries(error.headers ?? []),
  });
}
