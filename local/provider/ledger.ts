/** One call, written when it has ended, however it has. */
export interface Call {
  /** From `x-client-request-id`, or Bedrock's `requestMetadata.row`; empty if it came without. */
  readonly row: string;
  /** Which of the row's calls, from 1. */
  readonly attempt: number;
  /** Epoch milliseconds, with fractions, by a clock that is not set while the process runs. */
  readonly start: number;
  readonly end: number;
  readonly status: number | 'hang' | 'reset' | 'aborted';
  /** `done`, `limit-requests` and `limit-tokens` (refused by the account), or the fault. */
  readonly outcome: string;
  /** The last four characters of the key. */
  readonly key: string;
  readonly dialect: string;
  /** Of an answer that was made, and so is paid for; otherwise 0. */
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface LedgerSummary {
  readonly calls: number;
  /** Whole answers. */
  readonly ok: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly byOutcome: Readonly<Record<string, number>>;
  readonly inFlight: number;
  /** The most at any instant. */
  readonly mostInFlight: number;
  readonly rows: number;
  /** Rows for which more than one answer was made. */
  readonly rowsPaidMoreThanOnce: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** From the first call's start to the last end. */
  readonly spanMs: number;
  /** Calls that are in these sums and no longer in the ledger. */
  readonly dropped: number;
}

export interface Ledger {
  /** A call has come. */
  enter(): void;
  /** @returns which of the row's calls this is, and which of all. */
  begin(row: string): { attempt: number; call: number };
  end(call: Call): void;
  /** Oldest first, by when they ended. */
  calls(): readonly Call[];
  summary(): LedgerSummary;
  clear(): void;
}

export function createLedger(max: number): Ledger {
  let ring: Call[] = [];
  let ended = 0;
  let begun = 0;
  let inFlight = 0;
  let mostInFlight = 0;
  let rows = new Map<string, { attempts: number; paid: number }>();
  let sums = noSums();

  return {
    enter() {
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
    },

    begin(row) {
      begun += 1;
      let known = rows.get(row);
      if (known === undefined) {
        known = { attempts: 0, paid: 0 };
        rows.set(row, known);
        // As bounded as the ledger: the row that was first seen longest ago is forgotten.
        const [oldest] = rows.keys();
        if (rows.size > max && oldest !== undefined) rows.delete(oldest);
      }
      known.attempts += 1;
      return { attempt: known.attempts, call: begun };
    },

    end(call) {
      inFlight -= 1;
      ring[ended % max] = call;
      ended += 1;
      sums.from = Math.min(sums.from, call.start);
      sums.to = Math.max(sums.to, call.end);
      sums.inputTokens += call.inputTokens;
      sums.outputTokens += call.outputTokens;
      sums.byStatus[call.status] = (sums.byStatus[call.status] ?? 0) + 1;
      sums.byOutcome[call.outcome] = (sums.byOutcome[call.outcome] ?? 0) + 1;
      if (call.status === 200 && call.outcome === 'done') sums.ok += 1;
      const known = rows.get(call.row);
      // An answer was made, whether or not it arrived.
      if (call.inputTokens > 0 && known !== undefined) {
        known.paid += 1;
        if (known.paid === 2 && call.row !== '') sums.paidTwice += 1;
      }
    },

    calls() {
      const oldest = ended % max;
      return ended <= max ? [...ring] : [...ring.slice(oldest), ...ring.slice(0, oldest)];
    },

    summary() {
      const { ok, byStatus, byOutcome, inputTokens, outputTokens, from, to, paidTwice } = sums;
      return {
        calls: ended,
        ok,
        byStatus: { ...byStatus },
        byOutcome: { ...byOutcome },
        inFlight,
        mostInFlight,
        rows: rows.size,
        rowsPaidMoreThanOnce: paidTwice,
        inputTokens,
        outputTokens,
        spanMs: ended === 0 ? 0 : to - from,
        dropped: Math.max(0, ended - max),
      };
    },

    clear() {
      ring = [];
      ended = 0;
      begun = 0;
      mostInFlight = inFlight;
      rows = new Map();
      sums = noSums();
    },
  };
}

function noSums() {
  const byStatus: Record<string, number> = {};
  const byOutcome: Record<string, number> = {};
  return {
    ok: 0,
    byStatus,
    byOutcome,
    inputTokens: 0,
    outputTokens: 0,
    paidTwice: 0,
    from: Number.POSITIVE_INFINITY,
    to: Number.NEGATIVE_INFINITY,
  };
}
