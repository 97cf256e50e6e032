import { GlimpseImage, type View } from '../glimpse-image/glimpse-image.ts';
import { ApiError } from './api-error.ts';
import type { Page } from './page.ts';
import { fields, list, text } from './read-json.ts';

export interface UploadForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly expiresAt: string;
}

export interface Api {
  galleries(cursor?: string): Promise<Page<string>>;
  images(
    gallery: string,
    variant: string,
    options?: { limit?: number; cursor?: string },
  ): Promise<Page<View>>;
  signUpload(
    upload: { image: string; contentType: string; bytes: number },
    signal?: AbortSignal,
  ): Promise<UploadForm>;
}

/** An API that takes longer has lost the request. */
const TIMEOUT_MS = 20_000;

export function createApi(base: string): Api {
  const ask = async <T>(
    path: string,
    read: (answer: Record<string, unknown>) => T,
    init: RequestInit = {},
  ): Promise<T> => {
    const signals = [AbortSignal.timeout(TIMEOUT_MS), init.signal].filter((each) => each != null);
    let answer: Response;
    try {
      answer = await fetch(base + path, {
        ...init,
        credentials: 'omit',
        signal: AbortSignal.any(signals),
      });
    } catch (cause) {
      if (init.signal?.aborted === true) throw cause;
      throw new ApiError(0, 'no-answer', 'Glimpse does not answer.', { cause });
    }
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
    galleries: (cursor) =>
      ask(`/galleries${query({ cursor })}`, (answer) => ({
        items: list(answer.galleries).map((each) => text(fields(each).gallery)),
        cursor: cursorOf(answer),
      })),
    images: (gallery, variant, { limit = 80, cursor } = {}) =>
      ask(`/images${query({ gallery, variant, limit: String(limit), cursor })}`, (answer) => ({
        items: GlimpseImage.viewsOf(answer),
        cursor: cursorOf(answer),
      })),
    signUpload: (upload, signal) =>
      ask('/uploads', readForm, {
        method: 'POST',
        body: JSON.stringify(upload),
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}

function readForm(answer: Record<string, unknown>): UploadForm {
  const pairs = Object.entries(fields(answer.fields)).map(([name, value]) => [name, text(value)]);
  return {
    url: text(answer.url),
    fields: Object.fromEntries(pairs),
    expiresAt: text(answer.expiresAt),
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

function query(values: Record<string, string | undefined>): string {
  const set = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const search = new URLSearchParams(set).toString();
  return search === '' ? '' : `?${search}`;
}

function cursorOf({ cursor }: Record<string, unknown>): string | undefined {
  return typeof cursor === 'string' ? cursor : undefined;
}
