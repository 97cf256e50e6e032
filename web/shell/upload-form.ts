import { fields, text } from './read-json.ts';

/** A form that the storage takes a file by. */
export interface UploadForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
  /** ISO 8601. */
  readonly expiresAt: string;
}

export function readForm(told: unknown): UploadForm {
  const form = fields(told);
  const pairs = Object.entries(fields(form.fields)).map(([name, value]) => [name, text(value)]);
  return {
    url: text(form.url),
    fields: Object.fromEntries(pairs),
    expiresAt: text(form.expiresAt),
  };
}
