/** How long AWS, or what stands in its place, is waited for. */
export interface CallLimits {
  /** Milliseconds that an attempt may hear nothing. */
  readonly silentMs: number;
  readonly attempts: number;
}

export const LIMITS: CallLimits = { silentMs: 10_000, attempts: 3 };

/** As a client's settings. Of the silence and not of the whole: a large upload may take its time. */
export function callSettings({ silentMs, attempts }: CallLimits = LIMITS) {
  return {
    maxAttempts: attempts,
    requestHandler: { connectionTimeout: silentMs, socketTimeout: silentMs },
  };
}
