import { GlimpseImage, type View } from '../glimpse-image/glimpse-image.ts';
import { ApiError } from './api-error.ts';
import type { Page } from './page.ts';

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
  /** One image by its key. */
  image(image: string, variant: string): Promise<View | undefined>;
  signUpload(
    upload: { image: string; contentType: string; bytes: number },
    signal?: AbortSignal,
  ): Promise<UploadForm>;
}

/** An API that takes longer has lost the request. */
const TIMEOUT_MS = 20_000;

export function createApi(base: string): Api {
  const ask = async (path: string, init: RequestInit = {}): Promise<Record<string, unknown>> => {
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
    return fields(json);
  };
  return {
    async galleries(cursor) {
      const answer = await ask(`/galleries${query({ cursor })}`);
      const items = list(answer.galleries).map((each) => text(fields(each).gallery));
      return { items, cursor: cursorOf(answer) };
    },
    async images(gallery, variant, { limit = 80, cursor } = {}) {
      const answer = await ask(
        `/images${query({ gallery, variant, limit: String(limit), cursor })}`,
      );
      return { items: GlimpseImage.viewsOf(answer), cursor: cursorOf(answer) };
    },
    async image(image, variant) {
      const body = JSON.stringify({ images: [image], variants: [variant] });
      return GlimpseImage.viewsOf(await ask('/thumbnails', { method: 'POST', body }))[0];
    },
    async signUpload(upload, signal) {
      const answer = await ask('/uploads', {
        method: 'POST',
        body: JSON.stringify(upload),
        ...(signal === undefined ? {} : { signal }),
      });
      const pairs = Object.entries(fields(answer.fields)).map(([name, value]) => [
        name,
        text(value),
      ]);
      return {
        url: text(answer.url),
        fields: Object.fromEntries(pairs),
        expiresAt: text(answer.expiresAt),
      };
    },
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

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new ApiError(200, 'unreadable', 'Glimpse gave an answer that this page cannot read.');
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new ApiError(200, 'unreadable', 'Glimpse gave an answer that this page cannot read.');
}

function cursorOf({ cursor }: Record<string, unknown>): string | undefined {
  return typeof cursor === 'string' ? cursor : undefined;
}
