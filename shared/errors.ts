// One class a cause. Whose fault an error is, and so what happens to the work that met it, is
// decided here and nowhere else: the API answers 4xx to `caller`, a queue worker acknowledges
// `permanent` after recording it, and leaves `transient` on the queue.

export type Blame = 'caller' | 'permanent' | 'transient';

export abstract class GlimpseError extends Error {
  abstract readonly code: string;
  abstract readonly blame: Blame;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The bytes are of a kind that Glimpse does not read, by design: HEIC, video, HTML. */
export class UnsupportedError extends GlimpseError {
  readonly code = 'unsupported';
  readonly blame = 'permanent';
}

/** The bytes claim to be a picture and cannot be decoded as one. */
export class CorruptError extends GlimpseError {
  readonly code = 'corrupt';
  readonly blame = 'permanent';
}

/** Decoding would need more memory, or yield more pixels, than the function has. */
export class TooLargeError extends GlimpseError {
  readonly code = 'too-large';
  readonly blame = 'permanent';
}

/** There is no such object in the originals bucket. */
export class MissingError extends GlimpseError {
  readonly code = 'missing';
  readonly blame = 'permanent';
}

/** The caller's request is not what the API takes. The message says what was expected and what came. */
export class InvalidRequestError extends GlimpseError {
  readonly code = 'invalid-request';
  readonly blame = 'caller';
}

/** The request is well formed and contradicts what is there. */
export class ConflictError extends GlimpseError {
  readonly code = 'conflict';
  readonly blame = 'caller';
}

/** The summaries may cost more than the import's owner allows. */
export class OverBudgetError extends GlimpseError {
  readonly code = 'over-budget';
  readonly blame = 'caller';
}

/** A claim was lost to another worker, or is held by one: the same work later finds it done or free. */
export class BusyError extends GlimpseError {
  readonly code = 'busy';
  readonly blame = 'transient';
  /** When the other's lease ends, in epoch milliseconds. */
  readonly until: number;

  constructor(message: string, until: number) {
    super(message);
    this.until = until;
  }
}

/** A message that no retry makes readable. */
export class MalformedMessageError extends GlimpseError {
  readonly code = 'malformed-message';
  readonly blame = 'permanent';
}

/** More bytes than an upload may have. */
export class UploadTooLargeError extends GlimpseError {
  readonly code = 'upload-too-large';
  readonly blame = 'caller';
}

/** Messages that a queue did not take, however often they were sent. */
export class UnsentError extends GlimpseError {
  readonly code = 'unsent';
  readonly blame = 'transient';
}

/** There is nothing by this name. */
export class NotFoundError extends GlimpseError {
  readonly code = 'not-found';
  readonly blame = 'caller';
}

/** Nobody knows who calls. */
export class UnauthenticatedError extends GlimpseError {
  readonly code = 'unauthenticated';
  readonly blame = 'caller';
}

/** Whoever calls may not do this, and may know so: it tells nothing of what there is. */
export class ForbiddenError extends GlimpseError {
  readonly code = 'forbidden';
  readonly blame = 'caller';
}

/** The caller has caused as much as one may in a minute. */
export class TooManyRequestsError extends GlimpseError {
  readonly code = 'too-many-requests';
  readonly blame = 'caller';
  /** Milliseconds until there is more to be had. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}
