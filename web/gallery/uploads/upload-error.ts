// What went wrong with an upload: what to do about it, and how to tell it to a person.

export interface UploadError {
  /** A sentence without its full stop. */
  readonly title: string;
  /** What the person can do: whole sentences. */
  readonly advice: string;
  readonly retryable: boolean;
  /** The name is taken: keep both, or skip. */
  readonly conflict: boolean;
}

/** `signing` asks the API for a form, `sending` posts it to the storage. */
export type Step = 'signing' | 'sending';

/** `taken`: the name is not free. `stale`: a new form may help. `transient`: the same again may. */
export type FailureKind = 'taken' | 'stale' | 'transient' | 'final';

export interface Failure {
  readonly kind: FailureKind;
  /** Nobody answered. */
  readonly unanswered: boolean;
  readonly error: UploadError;
}

/** What was thrown, with the HTTP status (0: no answer) and the API's or S3's code if it has them. */
export function failureOf(thrown: unknown, step: Step, name: string): Failure {
  const { status, code } = answerIn(thrown);
  const failure = (kind: FailureKind, title: string, advice: string): Failure => ({
    kind,
    unanswered: status === 0,
    error: {
      title,
      advice,
      retryable: kind !== 'taken' && kind !== 'final',
      conflict: kind === 'taken',
    },
  });
  if (step === 'sending' && code === 'unreadable') {
    return failure(
      'final',
      'The file cannot be read any more',
      'It was moved, changed or deleted. Choose it again.',
    );
  }
  if (status === 0) {
    return failure('transient', 'The connection broke', 'Check the network, then retry.');
  }
  // S3 names a client that stopped talking `RequestTimeout`, with a 400.
  if (status === 408 || status === 429 || status >= 500 || code === 'RequestTimeout') {
    return failure('transient', 'The service is busy', 'Retry in a minute.');
  }
  return step === 'signing' ? refusedByApi() : refusedByStorage();

  function refusedByApi(): Failure {
    switch (status) {
      case 409:
        return failure(
          'taken',
          `There is already a picture called ${name}`,
          'Keep both, or skip this one.',
        );
      case 413:
        return failure(
          'final',
          'The picture is too large',
          'Export a smaller version and add that.',
        );
      case 401:
        return failure('stale', 'Your sign-in is not accepted here', 'Sign in again, then retry.');
      case 403:
        // The same again would end the same.
        return failure(
          'final',
          'You may look at these pictures, but not add any',
          'Ask who runs Glimpse for leave.',
        );
      default:
        return failure(
          'final',
          'The service does not take this file',
          'Its name or type may be the reason. Rename it or export it as JPEG.',
        );
    }
  }

  function refusedByStorage(): Failure {
    // The form names the size exactly.
    if (code === 'EntityTooLarge' || code === 'EntityTooSmall') {
      return failure('final', 'The file has changed since it was chosen', 'Choose it again.');
    }
    // The policy has expired, or the credentials that signed it have.
    if (status === 403 || code === 'ExpiredToken') {
      return failure('stale', 'The permission to upload ran out', 'Retry to get a new one.');
    }
    return failure(
      'final',
      'The storage does not take this file',
      'Whoever runs this site can tell why.',
    );
  }
}

function answerIn(thrown: unknown): { status: number; code: string } {
  if (!(thrown instanceof Error)) return { status: 0, code: '' };
  return {
    status: 'status' in thrown && typeof thrown.status === 'number' ? thrown.status : 0,
    code: 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '',
  };
}
