// One class a cause. Whose fault an error is, and so what happens to the work that met it, is
// decided here and nowhere else: the API answers 4xx to `caller`, a queue worker acknowledges
// `permanent` after recording it, and leaves `transient` on the queue.

export type Blame = 'caller' | 'permanent' | 'transient';

export abstract class GlimpseError extends Error {
  /** Written out: a class of a bundle has lost its own. */
  abstract override readonly name: string;
  abstract readonly code: string;
  abstract readonly blame: Blame;
}

/** The bytes are of a kind that Glimpse does not read, by design: HEIC, video, HTML. */
export class UnsupportedError extends GlimpseError {
  override readonly name = 'UnsupportedError';
  readonly code = 'unsupported';
  readonly blame = 'permanent';
}

/** The bytes claim to be a picture and cannot be decoded as one. */
export class CorruptError extends GlimpseError {
  override readonly name = 'CorruptError';
  readonly code = 'corrupt';
  readonly blame = 'permanent';
}

/** Decoding would need more memory, or yield more pixels, than the function has. */
export class TooLargeError extends GlimpseError {
  override readonly name = 'TooLargeError';
  readonly code = 'too-large';
  readonly blame = 'permanent';
}

/** There is no such object in the originals bucket. */
export class MissingError extends GlimpseError {
  override readonly name = 'MissingError';
  readonly code = 'missing';
  readonly blame = 'permanent';
}

/** The caller's request is not what the API takes. The message says what was expected and what came. */
export class InvalidRequestError extends GlimpseError {
  override readonly name = 'InvalidRequestError';
  readonly code = 'invalid-request';
  readonly blame = 'caller';
}

/** The request is well formed and contradicts what is there. */
export class ConflictError extends GlimpseError {
  override readonly name = 'ConflictError';
  readonly code = 'conflict';
  readonly blame = 'caller';
}

/** The summaries may cost more than the import's owner allows. */
export class OverBudgetError extends GlimpseError {
  override readonly name = 'OverBudgetError';
  readonly code = 'over-budget';
  readonly blame = 'caller';
}

/** A claim was lost to another worker, or is held by one: the same work later finds it done or free. */
export class BusyError extends GlimpseError {
  override readonly name = 'BusyError';
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
  override readonly name = 'MalformedMessageError';
  readonly code = 'malformed-message';
  readonly blame = 'permanent';
}

/** More bytes than an upload may have. */
export class UploadTooLargeError extends GlimpseError {
  override readonly name = 'UploadTooLargeError';
  readonly code = 'upload-too-large';
  readonly blame = 'caller';
}

/** Messages that a queue did not take, however often they were sent. */
export class UnsentError extends GlimpseError {
  override readonly name = 'UnsentError';
  readonly code = 'unsent';
  readonly blame = 'transient';
}

/** There is nothing by this name. */
export class NotFoundError extends GlimpseError {
  override readonly name = 'NotFoundError';
  readonly code = 'not-found';
  readonly blame = 'caller';
}

/** Nobody knows who calls. */
export class UnauthenticatedError extends GlimpseError {
  override readonly name = 'UnauthenticatedError';
  readonly code = 'unauthenticated';
  readonly blame = 'caller';
}

/** Whoever calls may not do this, and may know so: it tells nothing of what there is. */
export class ForbiddenError extends GlimpseError {
  override readonly name = 'ForbiddenError';
  readonly code = 'forbidden';
  readonly blame = 'caller';
}

/** The caller has caused as much as one may in a minute. */
export class TooManyRequestsError extends GlimpseError {
  override readonly name = 'TooManyRequestsError';
  readonly code = 'too-many-requests';
  readonly blame = 'caller';
  /** Milliseconds until there is more to be had. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}
