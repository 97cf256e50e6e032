// What the API tells of an image, read without trust and without a library: this travels to every
// page that shows a thumbnail.

export type State = 'ready' | 'pending' | 'failed';

export interface VariantView {
  readonly state: State;
  readonly url: string | undefined;
  /** Milliseconds since 1970; undefined where the URL stays good. */
  readonly expiresAt: number | undefined;
  /** The thumbnail's own, in pixels. */
  readonly width: number | undefined;
}

export interface Failure {
  /** `unsupported`, `corrupt`, `too-large`, `missing` or `transient`. */
  readonly class: string;
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly retryAt: number | undefined;
}

export interface View {
  /** The object's key. */
  readonly image: string;
  /** The original's size, upright, once it is known. */
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly variants: Readonly<Record<string, VariantView>>;
  /** base64. */
  readonly thumbhash: string | undefined;
  /** `#rrggbb`. */
  readonly color: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly failure: Failure | undefined;
  /** When this was told, in milliseconds since 1970. */
  readonly at: number;
}

/** The `images` of an answer. @throws where it is not such an answer. */
export function readViews(answer: unknown, at: number): View[] {
  const { images } = fields(answer);
  if (!Array.isArray(images)) throw new TypeError('expected an answer with images');
  return images.map((image) => readView(image, at));
}

function readView(told: unknown, at: number): View {
  const { image, width, height, variants, placeholder, retryAfterMs, failure } = fields(told);
  const { thumbhash, color } = fields(placeholder);
  if (typeof image !== 'string') throw new TypeError('expected an image with a key');
  return {
    image,
    width: size(width),
    height: size(height),
    variants: Object.fromEntries(
      Object.entries(fields(variants)).map(([name, variant]) => [name, readVariant(variant)]),
    ),
    thumbhash: text(thumbhash),
    color: text(color),
    retryAfterMs: size(retryAfterMs),
    failure: failure === undefined ? undefined : readFailure(fields(failure)),
    at,
  };
}

function readVariant(told: unknown): VariantView {
  const { state, url, expiresAt, width } = fields(told);
  return {
    state: state === 'ready' || state === 'failed' ? state : 'pending',
    url: text(url),
    expiresAt: time(expiresAt),
    width: size(width),
  };
}

function readFailure(told: Record<string, unknown>): Failure {
  return {
    class: text(told.class) ?? '',
    reason: text(told.reason) ?? '',
    retryAt: time(told.retryAt),
  };
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

const size = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 ? value : undefined;

function time(value: unknown): number | undefined {
  const parsed = Date.parse(text(value) ?? '');
  return Number.isNaN(parsed) ? undefined : parsed;
}
