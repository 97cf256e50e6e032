import type { ConfigInput } from './config-schema.ts';

/** The whole configuration, of the stage `production`. A wrong value fails at `cdk synth` with one sentence; README explains each. */
export const config: ConfigInput = {
  variants: [
    {
      name: 'card',
      width: 480,
      height: 480,
      fit: 'inside',
      format: 'webp',
      quality: 75,
      orientation: 'exif',
    },
    {
      name: 'zoom',
      width: 1600,
      height: 1600,
      fit: 'inside',
      format: 'webp',
      quality: 80,
      orientation: 'exif',
    },
  ],
  delivery: { kind: 'presigned', windowSeconds: 3600 },
  concurrency: { onDemand: 10, eager: 5, reserved: true, account: 1000 },
  memoryMb: { api: 1024, worker: 1769 },
  architecture: 'arm64',
  // Yours, or for one deployment: npm run deploy -- --issuer https://… --audience … --client-id … README says how. The
  // local cloud has an issuer of its own.
  authentication: {
    kind: 'jwt',
    issuer: '',
    audience: '',
    pages: { clientId: '', scope: 'openid', origins: [] },
  },
  bounds: { coldImages: 600, listings: 120, imports: 60 },
  allowedOrigins: ['*'],
  adopt: {},
  uploads: { maxBytes: 50_000_000 },
  pages: { grid: 'card', large: 'zoom' },
  throttle: { requestsPerSecond: 500, burst: 1000 },
  watching: { tracing: false },
  summaries: {
    // Not one that thinks before it answers: its thoughts would count as output tokens.
    provider: { kind: 'openai', model: 'gpt-4.1-mini', keyParameter: '/glimpse/provider-key' },
    // OpenAI's list price of that model, https://developers.openai.com/api/docs/pricing. Prices
    // change and contracts differ: check them, for estimates and accounts are made with these.
    prices: { inputUsdPerMillion: 0.4, outputUsdPerMillion: 1.6 },
    prompt: {
      instructions:
        'Summarise this row of a catalogue in two or three sentences for somebody who decides whether to read on. Say what it is, what sets it apart and whom it suits. Use only what the row says, in its language.',
      maxInputCharacters: 8000,
      maxOutputTokens: 200,
    },
    callTimeoutSeconds: 30,
    chunkRows: 50,
    // OpenAI's usage tier 2 for this model, https://developers.openai.com/api/docs/models/gpt-4.1-mini.
    // Yours is on the account's limits page, and in the headers of any answer.
    account: { requestsPerMinute: 5000, tokensPerMinute: 2_000_000 },
    // Measure yours; README says how. A row of a catalogue of ten columns has 245 tokens of input with
    // the instructions above, and a summary of three sentences some 100.
    measured: { serviceSeconds: 0.8, tokensPerCall: 350 },
    headroom: 2,
    interactiveShare: 0.3,
    reserve: 0.1,
    interactive: { batchChunks: 1 },
    bulk: { batchChunks: 4 },
    limits: {
      maxBytes: 1_000_000_000,
      maxRows: 1_000_000,
      maxColumns: 500,
      maxFieldCharacters: 100_000,
    },
    retention: { sourceDays: 30, importDays: 90 },
    stalled: { resends: 3, quietMinutes: { interactive: 2, bulk: 15 } },
    workerTimeoutSeconds: 120,
    memoryMb: { intake: 1769, worker: 512 },
  },
};

/**
 * What can be deployed, each a stack of its own beside the others: `npm run deploy -- --stage staging`.
 * Stages share no state, the allowance included: with one provider account for several, give each its
 * part of it in `summaries.account`.
 */
export const stages: Record<string, ConfigInput> = {
  production: config,
  staging: {
    ...config,
    concurrency: { ...config.concurrency, onDemand: 4, eager: 2 },
    summaries: {
      ...config.summaries,
      provider: {
        kind: 'openai',
        model: 'gpt-4.1-mini',
        keyParameter: '/glimpse/staging/provider-key',
      },
      account: { requestsPerMinute: 500, tokensPerMinute: 200_000 },
    },
  },
};
