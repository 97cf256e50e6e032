import type * as z from 'zod';
import {
  AbortedError,
  TimedOutError,
  UnreachableError,
  UnreadableAnswerError,
} from './provider-error.ts';

/**
 * Makes one call within `timeoutMs`, and turns whatever an SDK throws into one of our own errors.
 * @param failureOf reads the errors of the one SDK; undefined if the provider did not answer.
 */
export async function boundedCall<T>(
  call: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
  timeoutMs: number,
  failureOf: (error: unknown) => Error | undefined,
): Promise<T> {
  if (signal.aborted) throw givenUp(signal);
  // Not AbortSignal.timeout and .any: their timers and listeners would outlive each call.
  const bound = new AbortController();
  const follow = () => bound.abort();
  signal.addEventListener('abort', follow, { once: true });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    bound.abort();
  }, timeoutMs);
  try {
    return await call(bound.signal);
  } catch (error) {
    if (late) throw new TimedOutError(timeoutMs);
    if (signal.aborted) throw givenUp(signal);
    throw failureOf(error) ?? unanswered(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', follow);
  }
}

function givenUp(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  const isTime = reason instanceof Error && reason.name === 'TimeoutError';
  return isTime ? new TimedOutError() : new AbortedError(reason);
}

function unanswered(error: unknown): unknown {
  if (error instanceof UnreadableAnswerError) return error;
  if (causes(error).some((cause) => cause instanceof SyntaxError)) {
    return new UnreadableAnswerError("The provider's answer is not JSON.", error);
  }
  const unreachable = unreachableBy(error);
  // What fetch throws, also where the cause has no code.
  const isFetch = error instanceof TypeError && /^(fetch failed|terminated)$/.test(error.message);
  const isConnection =
    unreachable.code !== undefined && !NOT_OF_A_CONNECTION.test(unreachable.code);
  return isFetch || isConnection ? unreachable : error;
}

/** Node's own complaints about what it was given. Those about certificates are of the connection. */
const NOT_OF_A_CONNECTION = /^ERR_(?!TLS|SSL)/;

/** With the code of whatever lies beneath. */
export function unreachableBy(error: unknown): UnreachableError {
  const code = causes(error)
    .map((cause) => ('code' in cause ? cause.code : undefined))
    .find((code) => typeof code === 'string');
  return new UnreachableError(code, error);
}

function causes(error: unknown): Error[] {
  const found: Error[] = [];
  for (let cause = error; cause instanceof Error && found.length < 8; cause = cause.cause) {
    found.push(cause);
  }
  return found;
}

/** @throws UnreadableAnswerError that names the first thing that is not as it should be. */
export function parseAnswer<S extends z.ZodType>(schema: S, answer: unknown): z.output<S> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.length ? ` at ${issue.path.join('.')}` : '';
  throw new UnreadableAnswerError(
    `The provider's answer is not one${where}: ${issue?.message ?? 'unknown'}.`,
    parsed.error,
  );
}
