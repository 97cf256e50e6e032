/** An import as the API would tell of it. */
export function told(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    importId: '01abc',
    name: 'goods.csv',
    mode: 'interactive',
    state: 'paused',
    rows: { total: 812, done: 0, failed: 0 },
    chunks: { total: 17, done: 0, failed: 0 },
    report: {
      encoding: 'utf-8',
      delimiter: ';',
      header: ['sku', 'notes'],
      warnings: [{ line: 3, message: 'line 3 has 1 of 2 fields' }],
      warningsTotal: 1,
      rows: 812,
      blankLines: 0,
      columns: [
        { name: 'sku', filled: 812, meanCharacters: 8, maxCharacters: 8, samples: ['GL-1'] },
        { name: 'notes', filled: 400, meanCharacters: 60, maxCharacters: 90, samples: [] },
      ],
    },
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    waits: { gateMs: 0, allowanceMs: 0, yieldMs: 0, refusedMs: 0 },
    settings: { instructions: 'Summarise it.', columns: [], model: 'a-model' },
    createdAt: '2026-01-02T03:04:00.000Z',
    ...changes,
  };
}
