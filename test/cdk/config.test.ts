import { describe, expect, test } from 'vitest';
import { config } from '../../cdk/config.ts';
import { parseConfig } from '../../cdk/config-schema.ts';

const [card] = config.variants;
const { summaries } = config;
/** What a mode needs to have an account for itself, but what leads to it. */
const own = { account: { requestsPerMinute: 500, tokensPerMinute: 200_000 } };

/** The configuration with one thing changed, as a developer might type it. */
function refusalOf(changes: Record<string, unknown>): string {
  try {
    parseConfig({ ...config, ...changes });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'accepted';
}

describe('a wrong configuration is refused in one sentence that names the value', () => {
  test.each([
    ['a width of 0', { variants: [{ ...card, width: 0 }] }, /variants\[0\]\.width: .*, got 0\.$/],
    [
      'a width in text',
      { variants: [{ ...card, width: '100' }] },
      /variants\[0\]\.width: .*, got "100"\.$/,
    ],
    [
      'a width of 1.5',
      { variants: [{ ...card, width: 1.5 }] },
      /variants\[0\]\.width: .*, got 1.5\.$/,
    ],
    ['a width of NaN', { variants: [{ ...card, width: Number.NaN }] }, /variants\[0\]\.width: /],
    [
      'a huge height',
      { variants: [{ ...card, height: 5000 }] },
      /variants\[0\]\.height: .*4096, got 5000\.$/,
    ],
    [
      'another format',
      { variants: [{ ...card, format: 'png' }] },
      /variants\[0\]\.format: .*"webp"\|"jpeg"\|"avif", got "png"\.$/,
    ],
    ['a fit of sharp', { variants: [{ ...card, fit: 'contain' }] }, /variants\[0\]\.fit: /],
    [
      'a name with a slash',
      { variants: [{ ...card, name: 'a/b' }] },
      /variants\[0\]\.name: expected 1 to 32 of a-z.*, got "a\/b"\.$/,
    ],
    [
      'one name twice',
      { variants: [card, card] },
      /variants\[1\]\.name: expected a name of its own, got "card" again/,
    ],
    ['no variants', { variants: [] }, /variants: /],
    ['an unknown option', { variant: [] }, /[Uu]nrecognized key: "variant"/],
    [
      'a concurrency of 1',
      { concurrency: { onDemand: 1, eager: 5, reserved: true, account: 1000 } },
      /concurrency\.onDemand: .*>=2, got 1\.$/,
    ],
    [
      'an origin with a path',
      { allowedOrigins: ['https://shop.example/a'] },
      /allowedOrigins\[0\]: expected '\*' or an origin/,
    ],
    [
      'a bucket by its ARN',
      { adopt: { originals: 'arn:aws:s3:::photos' } },
      /adopt\.originals: expected a bucket's name/,
    ],
    [
      'one bucket for both',
      { adopt: { originals: 'photos', thumbnails: 'photos' } },
      /adopt\.thumbnails: expected another bucket/,
    ],
    [
      'a public bucket that is not ours',
      { delivery: { kind: 'public' }, adopt: { thumbnails: 'photos' } },
      /delivery\.kind: expected 'presigned'/,
    ],
    [
      'a window of a second',
      { delivery: { kind: 'presigned', windowSeconds: 1 } },
      /delivery\.windowSeconds: .*>=60, got 1\.$/,
    ],
    [
      'another processor',
      { architecture: 'amd64' },
      /architecture: .*"arm64"\|"x86_64", got "amd64"\.$/,
    ],
    [
      'too little memory',
      { memoryMb: { api: 1024, worker: 128 } },
      /memoryMb\.worker: .*>=512, got 128\.$/,
    ],
    [
      'a page of a variant that there is not',
      { pages: { grid: 'card', large: 'huge' } },
      /pages\.large: expected a variant, one of card, zoom, got "huge"\.$/,
    ],
    [
      'pages with pixels',
      { pages: { grid: 480, large: 1600 } },
      /pages: expected false or the names of two variants, such as .*, got \{"grid":480,"large":1600\}\.$/,
    ],
    ['pages that are just wanted', { pages: true }, /pages: expected false or .*, got true\.$/],
    [
      'a provider that needs a key and has none',
      { summaries: { ...summaries, provider: { kind: 'anthropic', model: 'small' } } },
      /summaries\.provider\.keyParameter: expected the name of the SSM parameter that holds the key of 'anthropic', but it is not set\.$/,
    ],
    [
      'a key for Bedrock',
      {
        summaries: {
          ...summaries,
          provider: { kind: 'bedrock', model: 'amazon.nova-lite-v1:0', keyParameter: '/key' },
        },
      },
      /summaries\.provider\.keyParameter: expected none with 'bedrock', which takes the function's own role, got one\.$/,
    ],
    [
      'a region for another provider',
      {
        summaries: { ...summaries, provider: { ...summaries.provider, region: 'eu-west-1' } },
      },
      /summaries\.provider\.region: expected none with 'openai': only Bedrock has one, got "eu-west-1"\.$/,
    ],
    [
      "OpenAI's option for another provider",
      {
        summaries: {
          ...summaries,
          provider: { ...summaries.provider, kind: 'anthropic', outputLimit: 'max_tokens' },
        },
      },
      /summaries\.provider\.outputLimit: expected none with 'anthropic'/,
    ],
    [
      "a model's ARN",
      {
        summaries: {
          ...summaries,
          provider: { kind: 'bedrock', model: 'arn:aws:bedrock:eu-west-1::foundation-model/x' },
        },
      },
      /summaries\.provider\.model: expected a model's id, not an ARN/,
    ],
    [
      'a price in cents, as text',
      { summaries: { ...summaries, prices: { inputUsdPerMillion: '40', outputUsdPerMillion: 1 } } },
      /summaries\.prices\.inputUsdPerMillion: .*, got "40"\.$/,
    ],
    [
      'a call that may last longer than half of its worker',
      { summaries: { ...summaries, callTimeoutSeconds: 61 } },
      /summaries\.callTimeoutSeconds: expected at most half of workerTimeoutSeconds \(120\), .*, got 61\.$/,
    ],
    [
      'a batch that its worker cannot end',
      { summaries: { ...summaries, bulk: { gate: 2, batchChunks: 4 } } },
      /summaries\.bulk\.batchChunks: expected a batch that ends within half of workerTimeoutSeconds \(120\), got 4 × 50 rows through a gate of 2, which take 80 s at 0\.8 s a call: take fewer chunks, or raise summaries\.workerTimeoutSeconds\.$/,
    ],
    [
      'a chunk that an interactive worker cannot end',
      { summaries: { ...summaries, chunkRows: 800, bulk: { batchChunks: 1, gate: 35 } } },
      /summaries\.interactive\.batchChunks: expected a batch that ends within/,
    ],
    [
      'one interactive worker',
      { summaries: { ...summaries, interactive: { ...summaries.interactive, concurrency: 1 } } },
      /summaries\.interactive\.concurrency: .*>=2, got 1\.$/,
    ],
    [
      'more calls in flight than the account has use for',
      { summaries: { ...summaries, interactive: { batchChunks: 1, concurrency: 8, gate: 20 } } },
      /summaries\.interactive\.gate: expected at most 134 calls in flight on the shared account \(processes × gate\), got 8 × 20 \+ 2 × 1: lower it, or raise summaries\.headroom to 2\.43 if a sweep has shown that so many complete more\.$/,
    ],
    [
      'more workers than AWS lets anybody reserve',
      { concurrency: { ...config.concurrency, account: 100 } },
      /concurrency\.account: expected 133 or more, as 33 \(4 interactive, 9 bulk, 20 others\) are reserved and AWS keeps 100 from it, got 100: raise the quota/,
    ],
    [
      'a service time that nobody measured',
      { summaries: { ...summaries, measured: { tokensPerCall: 350 } } },
      /summaries\.measured\.serviceSeconds: .*, but it is not set\.$/,
    ],
    [
      'a share that leaves bulk nothing',
      { summaries: { ...summaries, interactiveShare: 1 } },
      /summaries\.interactiveShare: .*<=0\.9, got 1\.$/,
    ],
    [
      'an account that lets nothing through',
      { summaries: { ...summaries, account: { requestsPerMinute: 0, tokensPerMinute: null } } },
      /summaries\.account\.requestsPerMinute: .*>=1, got 0\.$/,
    ],
    [
      'an account of its own that is the other',
      {
        summaries: {
          ...summaries,
          bulk: { batchChunks: 4, provider: { ...own, keyParameter: '/glimpse/provider-key' } },
        },
      },
      /summaries\.bulk\.provider: expected another keyParameter, model, baseUrl or region than that of the other mode, .*, got the same\.$/,
    ],
    [
      'a region of its own for another provider',
      {
        summaries: {
          ...summaries,
          interactive: { batchChunks: 1, provider: { ...own, region: 'eu-west-1' } },
        },
      },
      /summaries\.interactive\.provider\.region: expected none with 'openai': only Bedrock has one, got "eu-west-1"\.$/,
    ],
    [
      'a key of its own for Bedrock',
      {
        summaries: {
          ...summaries,
          provider: { kind: 'bedrock', model: 'amazon.nova-lite-v1:0' },
          bulk: { batchChunks: 4, provider: { ...own, keyParameter: '/key' } },
        },
      },
      /summaries\.bulk\.provider\.keyParameter: expected none with 'bedrock'/,
    ],
    [
      'more chunks than a message receive brings',
      { summaries: { ...summaries, bulk: { ...summaries.bulk, batchChunks: 11 } } },
      /summaries\.bulk\.batchChunks: .*<=10, got 11\.$/,
    ],
    [
      'a file larger than a form can upload',
      { summaries: { ...summaries, limits: { ...summaries.limits, maxBytes: 6_000_000_000 } } },
      /summaries\.limits\.maxBytes: .*<=5000000000, got 6000000000\.$/,
    ],
    [
      'a worker of two hours',
      { summaries: { ...summaries, workerTimeoutSeconds: 7200 } },
      /summaries\.workerTimeoutSeconds: .*<=900, got 7200\.$/,
    ],
    [
      'no instructions',
      { summaries: { ...summaries, prompt: { ...summaries.prompt, instructions: ' ' } } },
      /summaries\.prompt\.instructions: /,
    ],
    [
      'an unknown option of summaries',
      { summaries: { ...summaries, workers: 10 } },
      /summaries: [Uu]nrecognized key: "workers"/,
    ],
    ['nothing at all', { uploads: undefined }, /uploads: .*, but it is not set\.$/],
  ])('%s', (_, changes, sentence) => {
    const refusal = refusalOf(changes);
    expect(refusal).toMatch(/^cdk\/config\.ts: /);
    expect(refusal).toMatch(sentence);
    expect(refusal).not.toContain('\n');
  });
});

test('a key in the place of its parameter is refused and not repeated', () => {
  const provider = { ...summaries.provider, keyParameter: 'sk-proj-0123456789' };
  const refusal = refusalOf({ summaries: { ...summaries, provider } });
  expect(refusal).toBe(
    "cdk/config.ts: summaries.provider.keyParameter: expected the name of an SSM parameter such as '/glimpse/provider-key', got something else.",
  );
});

test('the configuration that the project ships is accepted', () => {
  expect(parseConfig(config).variants.map(({ name }) => name)).toEqual(['card', 'zoom']);
});
