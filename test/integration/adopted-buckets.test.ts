import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireBuckets } from '../../cli/deploy/look-ahead.ts';
import { UsageError } from '../../cli/usage-error.ts';
import { type Engines, ORIGINALS, startEngines, THUMBNAILS } from './engines.ts';

let engines: Engines;
beforeAll(async () => {
  engines = await startEngines();
});
afterAll(() => engines.stop());

test('a bucket that is to be adopted has to be there', async () => {
  const { s3 } = engines;
  await requireBuckets(s3, {});
  await requireBuckets(s3, { originals: ORIGINALS, thumbnails: THUMBNAILS });
  const wrong = requireBuckets(s3, { originals: ORIGINALS, thumbnails: 'elsewhere' });
  await expect(wrong).rejects.toThrow(UsageError);
  await expect(wrong).rejects.toThrow(
    'cdk/config.ts: adopt.thumbnails: expected a bucket that there is, got "elsewhere".',
  );
});
