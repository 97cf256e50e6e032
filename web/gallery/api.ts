import { GlimpseImage } from '../glimpse-image/glimpse-image.ts';
import { type Bearer, createApiClient, cursorOf, query } from '../shell/api-client.ts';
import type { Page } from '../shell/page.ts';
import { fields, list, text } from '../shell/read-json.ts';
import { readForm, type UploadForm } from '../shell/upload-form.ts';
import type { ImagesPage } from './feed.ts';

export interface Api {
  galleries(cursor?: string): Promise<Page<string>>;
  images(
    gallery: string,
    variant: string,
    options?: { limit?: number; cursor?: string },
  ): Promise<ImagesPage>;
  signUpload(
    upload: { image: string; contentType: string; bytes: number },
    signal?: AbortSignal,
  ): Promise<UploadForm>;
}

export function createApi(base: string, session?: Bearer): Api {
  const { ask } = createApiClient(base, session);
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
        readOnly: answer.readOnly === true,
      })),
    signUpload: (upload, signal) =>
      ask('/uploads', readForm, {
        method: 'POST',
        body: JSON.stringify(upload),
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}
