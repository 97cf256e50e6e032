import type { RateLimits } from './provider.ts';

// What went wrong with a call, as facts. What follows for the work is decided in verdict.ts alone.

export type ProviderKind = 'openai' | 'anthropic' | 'bedrock';

/** What a proxy puts there instead goes into no message of ours. */
const LIKE_A_CODE = /^[\w.-]{1,64}$/;

/** The provider answered with an error. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly kind: ProviderKind;
  readonly status: number;
  /** The machine-readable codes of the body: OpenAI's `code` and `type`, Anthropic's `type`, Bedrock's exception. */
  readonly codes: readonly string[];
  /** The provider's sentence, without the key. For people: nothing is decided by it. */
  readonly detail: string;
  readonly limits: RateLimits;

  // Without the SDK's error as its cause: that one holds what the provider quotes, the key too.
  constructor(facts: {
    kind: ProviderKind;
    status: number;
    codes: readonly (string | null | undefined)[];
    detail: string;
    limits: RateLimits;
    /** Providers quote the key that they refuse: wherever it stands, it is left out. */
    key: string | undefined;
  }) {
    super(`The provider answered ${facts.status}.`);
    this.kind = facts.kind;
    this.status = facts.status;
    this.codes = facts.codes.flatMap((code) =>
      code && LIKE_A_CODE.test(withoutKey(code, facts.key)) ? code : [],
    );
    this.detail = withoutKey(facts.detail, facts.key);
    this.limits = facts.limits;
  }
}

function withoutKey(text: string, key: string | undefined): string {
  return key ? text.replaceAll(key, '[key]') : text;
}

/** There was no connection, or it broke before the answer was whole. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  /** ECONNREFUSED, ECONNRESET, ENOTFOUND and the like, where the cause has one. */
  readonly code: string | undefined;

  constructor(code: string | undefined, cause: unknown) {
    super(`The connection to the provider failed${code === undefined ? '' : ` (${code})`}.`, {
      cause,
    });
    this.code = code;
  }
}

/** No whole answer came within the time that a call has. */
export class TimedOutError extends Error {
  override readonly name = 'TimedOutError';
  /** Absent if the caller's own signal set the time. */
  readonly afterMs: number | undefined;

  constructor(afterMs?: number) {
    super(`The provider gave no answer${afterMs === undefined ? '' : ` within ${afterMs} ms`}.`);
    this.afterMs = afterMs;
  }
}

/** The caller gave the call up. */
export class AbortedError extends Error {
  override readonly name = 'AbortedError';

  constructor(reason: unknown) {
    super('The call was given up.', { cause: reason });
  }
}

/** A success by its status that is not an answer of this provider: a proxy's page, JSON cut short. */
export class UnreadableAnswerError extends Error {
  override readonly name = 'UnreadableAnswerError';

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

/** There is nothing to sign the call with, so it was not made. */
export class NoKeyError extends Error {
  override readonly name = 'NoKeyError';
}
