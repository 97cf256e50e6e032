import { expect, test } from 'vitest';

test.each([
  'thumbnail-api',
  'thumbnail-worker',
  'thumbnail-failures',
  'import-api',
  'import-intake',
  'import-reaper',
  'chunk-worker',
  'chunk-failures',
])('%s can be imported without an environment', async (folder) => {
  const { handler } = await import(`../../../functions/${folder}/handler.ts`);
  expect(handler).toBeTypeOf('function');
});
