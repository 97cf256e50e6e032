import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Levels } from './account.ts';
import type { Ending, Refusal } from './settings.ts';

/** What a call asks for, once it is read. */
export interface Ask {
  readonly system: string;
  readonly input: string;
  readonly maxTokens: number;
}

/** What the provider would have answered. */
export interface Told {
  /** The number of the call, for the ids of answers. */
  readonly id: string;
  readonly text: string;
  readonly ending: Ending | 'done';
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly tookMs: number;
}

export interface RefusalContext {
  readonly id: string;
  readonly message?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly levels?: Levels | undefined;
}

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** How one provider's API speaks. */
export interface Dialect {
  readonly name: 'openai' | 'anthropic' | 'bedrock';
  /** A sentence if the body is not what this API takes. */
  read(body: unknown): Ask | string;
  row(headers: IncomingHttpHeaders, body: unknown): string;
  key(headers: IncomingHttpHeaders): string;
  answer(told: Told): unknown;
  /** @param now epoch milliseconds. */
  headers(id: string, levels: Levels | undefined, now: number): Record<string, string>;
  refuse(refusal: Refusal, context: RefusalContext): ErrorAnswer;
}

/** What a model answers with where a request does not bound it. */
export const MODEL_MAXIMUM = 4096;

/** The header's first value. */
export function header(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

/** Go's format, in which OpenAI's headers are: `17ms`, `2m59.56s`, `6m0s`. */
export function duration(ms: number): string {
  const whole = Math.ceil(ms);
  if (whole < 1000) return `${whole}ms`;
  const hours = Math.floor(whole / 3_600_000);
  const minutes = Math.floor(whole / 60_000) % 60;
  const seconds = `${(whole % 60_000) / 1000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

/** A message's text: one string, or parts that are all text. */
export const textSchema = z.union([
  z.string(),
  z
    .array(z.object({ type: z.literal('text'), text: z.string() }))
    .transform((parts) => parts.map(({ text }) => text).join('')),
]);

/** From what stands before the provider, in its own words. */
export function badGateway(): ErrorAnswer {
  return {
    status: 502,
    headers: { 'content-type': 'text/html' },
    body: '<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>\n',
  };
}

/** One sentence: where, and what was expected. */
export function complaint({ issues }: z.ZodError): string {
  const [issue] = issues;
  return `${issue?.path.join('.') || 'The body'}: ${issue?.message ?? 'not as expected'}.`;
}
