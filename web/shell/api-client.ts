import { ApiError } from './api-error.ts';
import { fields } from './read-json.ts';

/** An API that takes longer has lost the request. */
const TIMEOUT_MS = 30_000;

type Read<T> = (answer: Record<string, unknown>) => T;

export interface ApiClient {
  /** The answer's content, by `read`. Rejects with an ApiError, or as `init.signal` says. */
  ask<T>(path: string, read: Read<T>, init?: RequestInit): Promise<T>;
}

/** Who asks. @see Session */
export interface Bearer {
  token(refused?: string): Promise<string>;
  /** Whether the API took the token; asked with another one, where it did not take the first. */
  answered?(accepted: boolean): void;
}

/** @param bearer whose token is sent; nobody's, where the API lets in everyone. */
export function createApiClient(base: string, bearer?: Bearer): ApiClient {
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    if (bearer === undefined) return await sendOnce(path, init, undefined);
    const answer = await sendAs(bearer, path, init);
    bearer.answered?.(answer.status !== 401);
    if (answer.status !== 401) return answer;
    throw new ApiError(401, 'sign-in-refused', 'Your sign-in is not accepted here.');
  };
  const sendAs = async (bearer: Bearer, path: string, init: RequestInit): Promise<Response> => {
    const token = await bearer.token();
    const answer = await sendOnce(path, init, token);
    // It ended, or its key did: with another one the same is asked once more.
    if (answer.status !== 401) return answer;
    return await sendOnce(path, init, await bearer.token(token));
  };
  const sendOnce = async (
    path: string,
    init: RequestInit,
    token: string | undefined,
  ): Promise<Response> => {
    init.signal?.throwIfAborted();
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    const signals = [AbortSignal.timeout(TIMEOUT_MS), init.signal].filter((each) => each != null);
    try {
      return await fetch(base + path, {
        ...init,
        headers,
        credentials: 'omit',
        signal: AbortSignal.any(signals),
      });
    } catch (cause) {
      if (init.signal?.aborted === true) throw cause;
      throw new ApiError(0, 'no-answer', 'Glimpse does not answer.', { cause });
    }
  };
  const readAnswer = async <T>(answer: Response, read: Read<T>): Promise<T> => {
    const json: unknown = await answer.json().catch(() => undefined);
    if (!answer.ok) throw refusal(answer.status, json);
    try {
      return read(fields(json));
    } catch (cause) {
      const message = 'Glimpse gave an answer that this page cannot read.';
      throw new ApiError(answer.status, 'unreadable', message, { cause });
    }
  };
  return {
    ask: async (path, read, init) => readAnswer(await send(path, init), read),
  };
}

function refusal(status: number, json: unknown): ApiError {
  const { code, message } = fields(fields(json).error);
  return new ApiError(
    status,
    typeof code === 'string' ? code : 'unknown',
    typeof message === 'string' ? message : `Glimpse answered ${status}.`,
  );
}

/** The query string of what is set. */
export function query(values: Record<string, string | undefined>): string {
  const set = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const search = new URLSearchParams(set).toString();
  return search === '' ? '' : `?${search}`;
}

export function cursorOf({ cursor }: Record<string, unknown>): string | undefined {
  return typeof cursor === 'string' ? cursor : undefined;
}
