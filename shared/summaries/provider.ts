/** One call: one row of an import. */
export interface SummaryRequest {
  readonly system: string;
  readonly input: string;
  readonly maxOutputTokens: number;
  /**
   * Whom this is for, `<importId>/<row>`: printable ASCII. The provider gets it as the header
   * `x-client-request-id` (Bedrock: `requestMetadata.row`), so that its records join ours.
   */
  readonly row: string;
}

/**
 * How an answer ended. Only `done` is a summary. `empty` is also an answer that ended for a reason
 * that we do not know, whatever text it brought.
 */
export type Finish = 'done' | 'refused' | 'truncated' | 'filtered' | 'empty';

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A response's headers by their lower-case names. Empty where the provider shows none (Bedrock). */
export type RateLimits = Readonly<Record<string, string>>;

export interface Answer {
  readonly finish: Finish;
  readonly text: string;
  /** What the provider counted; our estimate where a compatible server does not say. */
  readonly usage: Usage;
  /** The model that answered, which may be a dated version of the one asked for. */
  readonly model: string;
  readonly limits: RateLimits;
}

export interface Provider {
  readonly model: string;
  /**
   * One call, never repeated here.
   * @throws RefusedError, UnreachableError, TimedOutError, AbortedError, UnreadableAnswerError or
   * NoKeyError; `verdictOf` says what each means for the work.
   */
  complete(request: SummaryRequest, signal: AbortSignal): Promise<Answer>;
  /** Ends the connections, and with them the calls in flight. */
  close(): void;
}
