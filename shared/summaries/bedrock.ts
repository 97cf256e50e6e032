import {
  BedrockRuntimeClient,
  BedrockRuntimeServiceException,
  ConverseCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import * as z from 'zod';
import { boundedCall, parseAnswer, unreachableBy } from './bounded-call.ts';
import type { Answer, Finish, Provider } from './provider.ts';
import { NoKeyError, RefusedError, UnreadableAnswerError } from './provider-error.ts';

export interface BedrockOptions {
  readonly model: string;
  readonly region: string;
  /** Absent for AWS's own. */
  readonly baseUrl?: string | undefined;
  readonly callTimeoutMs: number;
  readonly connections: number;
}

const CONNECT_MS = 5_000;

const answerSchema = z.object({
  output: z.object({
    // Blocks of other types have no text.
    message: z.object({ content: z.array(z.object({ text: z.string().optional() })) }).optional(),
  }),
  stopReason: z.string(),
  usage: z.object({
    inputTokens: z.int().nonnegative(),
    outputTokens: z.int().nonnegative(),
  }),
});

/** The Converse API. @param key a Bedrock API key; absent to sign with the function's own role. */
export function createBedrock(options: BedrockOptions, key: string | undefined): Provider {
  const { model, region, callTimeoutMs } = options;
  const agent = { maxSockets: options.connections, keepAlive: true };
  const client = new BedrockRuntimeClient({
    region,
    maxAttempts: 1,
    // The SDK's default speaks HTTP/2, whose number of connections cannot be set.
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECT_MS,
      httpAgent: agent,
      httpsAgent: agent,
    }),
    ...(options.baseUrl === undefined ? {} : { endpoint: options.baseUrl }),
    ...(key === undefined
      ? {}
      : { token: { token: key }, authSchemePreference: ['httpBearerAuth'] }),
  });

  return {
    model,
    async complete(request, signal) {
      const command = new ConverseCommand({
        modelId: model,
        system: [{ text: request.system }],
        messages: [{ role: 'user', content: [{ text: request.input }] }],
        // Unset, the model's own maximum would be taken from the allowance.
        inferenceConfig: { maxTokens: request.maxOutputTokens },
        requestMetadata: { row: request.row },
      });
      return boundedCall(
        async (bound) => answerOf(await client.send(command, { abortSignal: bound }), model),
        signal,
        callTimeoutMs,
        (error) => failureOf(error, key),
      );
    },
    close: () => client.destroy(),
  };
}

function answerOf(data: unknown, model: string): Answer {
  const { output, stopReason, usage } = parseAnswer(answerSchema, data);
  const text = (output.message?.content ?? []).map((block) => block.text ?? '').join('');
  return { finish: finishOf(stopReason, text), text, usage, model, limits: {} };
}

function finishOf(reason: string, text: string): Finish {
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
      return text.trim() === '' ? 'empty' : 'done';
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'truncated';
    case 'guardrail_intervened':
    case 'content_filtered':
      return 'filtered';
    default:
      return 'empty';
  }
}

/** On every error that came with a response, one that the SDK could not read too. */
const answeredSchema = z.object({
  $metadata: z.object({ httpStatusCode: z.int() }),
  $response: z.object({ headers: z.record(z.string(), z.string()) }).optional(),
});

function failureOf(error: unknown, key: string | undefined): Error | undefined {
  if (error instanceof Error && /^(Credentials|Token)ProviderError$/.test(error.name)) {
    return new NoKeyError('There are no AWS credentials to call Bedrock with.', { cause: error });
  }
  // No connection within CONNECT_MS.
  if (error instanceof Error && error.name === 'TimeoutError') return unreachableBy(error);
  const answered = answeredSchema.safeParse(error);
  if (!answered.success || !(error instanceof Error)) return undefined;
  const { $metadata, $response } = answered.data;
  const isNamed = error instanceof BedrockRuntimeServiceException;
  if (!isNamed && $metadata.httpStatusCode < 300) {
    // With a code, the connection broke in the middle of the answer.
    if ('code' in error) return undefined;
    return new UnreadableAnswerError("Bedrock's answer cannot be read.", error);
  }
  return new RefusedError({
    kind: 'bedrock',
    status: $metadata.httpStatusCode,
    codes: isNamed ? [error.name] : [],
    detail: isNamed ? error.message : '',
    key,
    limits: $response?.headers ?? {},
  });
}
