import type { AllowanceSettings, Mode } from './allowance-settings.ts';
import type { LineState } from './line-item.ts';
import type { Rates, Run } from './measure.ts';
import type { ToldAccount } from './usage-item.ts';

// What is known of an account and of those who spend it, when it is asked what limits them.

export interface ModeFacts {
  readonly mode: Mode;
  /** Calls in flight in one process, at most. */
  readonly gate: number;
  /** Processes at once, at most. */
  readonly processes: number;
  /** Rows of a chunk, but for the last of an import. */
  readonly chunkRows: number;
  /** Chunks: those that wait, and those that a process has or that are held back for a while. */
  readonly queue: { readonly depth: number; readonly inFlight: number };
  /** Of the last minute, as far as the account was in use: of 0 seconds where nothing is known yet. */
  readonly rates: Rates;
  /** Of its last seconds. */
  readonly lately: Rates;
  /** When it last called without a pause. */
  readonly run?: Run | undefined;
}

/** What the newest imports that spend this account are at; looked at only where calls do not say enough. */
export interface ImportFacts {
  /** Those that run, and when each was started or resumed: epoch milliseconds. */
  readonly running: readonly { readonly mode: Mode; readonly startedAt: number }[];
  /** Names of those that are paused, the newest first; undefined for those that the asker may not know. */
  readonly paused: readonly (string | undefined)[];
  /** One that is paused because no call succeeds any more: its failure says what to do. */
  readonly stopped?: { readonly name: string | undefined; readonly message: string } | undefined;
}

export interface LineFacts {
  /** What the fleet was configured for. */
  readonly account: Pick<AllowanceSettings, 'requestsPerMinute' | 'tokensPerMinute'>;
  /** What it lets through of calls of the usual size: the tighter of its two limits decides. */
  readonly callsPerSecond: number;
  readonly interactiveShare: number;
  /** Seconds for which a process takes its part of the account at once. */
  readonly frameSeconds: number;
  /** Seconds that the plan takes a call to take. */
  readonly serviceSeconds: number;
  /** One or two that spend this account. */
  readonly modes: readonly ModeFacts[];
  readonly state: Pick<LineState, 'quietUntil' | 'yieldUntil' | 'cut' | 'interactiveAt'>;
  /** What the provider's answers state as its limits, where that is known. */
  readonly told?: ToldAccount;
  readonly imports?: ImportFacts | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}
