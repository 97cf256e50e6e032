/** A fleet as the API would tell of it: bulk work uses the account. */
export function told(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const rates = {
    seconds: 60,
    callsPerSecond: 0,
    inFlight: 0,
    tokensPerSecond: 0,
    refusedPerSecond: 0,
    failedPerSecond: 0,
    processes: 0,
    storeOpsPerCall: 0,
    waiting: { gate: 0, allowance: 0, yield: 0, refused: 0 },
  };
  const series = (calls: number) => ({
    callsPerSecond: [0, calls, calls],
    inFlight: [0, calls * 0.8, calls * 0.8],
    tokensPerSecond: [0, calls * 350, calls * 350],
    refusedPerSecond: [0, 0, 0],
    yielding: [0, 0, 0],
  });
  const account = { requestsPerMinute: 5000, tokensPerMinute: 2_000_000 };
  const diagnosis = { code: 'quota', words: 'The requests are used.', help: ['Ask for more.'] };
  return {
    plan: {
      fleetBound: 134,
      lines: [{ line: 'shared', callsPerSecond: 83.333, account }],
      interactive: { gate: 10, processes: 4, batchChunks: 1 },
      bulk: { gate: 10, processes: 9, batchChunks: 4 },
      figures: [{ name: 'fleet bound', value: 134, unit: 'in flight', reason: '83.3 × 0.8 × 2' }],
      checks: [
        { name: 'all is well', state: 'ok', says: 'so it is', path: 'summaries' },
        { name: 'a batch fills its gate', state: 'note', says: 'it does not', path: 'summaries' },
      ],
    },
    measured: {
      at: '2026-03-01T12:00:00.000Z',
      interactive: rates,
      bulk: { ...rates, callsPerSecond: 83, inFlight: 66.4, serviceSeconds: 0.8, processes: 9 },
      queues: { interactive: { depth: 0, inFlight: 0 }, bulk: { depth: 40, inFlight: 28 } },
      series: {
        from: '2026-03-01T11:59:30.000Z',
        stepSeconds: 10,
        interactive: series(0),
        bulk: series(83),
      },
    },
    lines: [{ line: 'shared', diagnosis }],
    diagnosis,
    ...changes,
  };
}
