import { expect, test } from 'vitest';

test.each(['thumbnail-api', 'thumbnail-worker', 'thumbnail-failures', 'import-api'])(
  '%s can be imported without an environment',
  async (folder) => {
    const { handler } = await import(`../../../functions/${folder}/handler.ts`);
    expect(handler).toBeTypeOf('function');
  },
);
