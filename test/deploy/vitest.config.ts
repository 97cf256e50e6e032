import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** As things happen: what is synthesised is deployed, used, changed and deleted. */
const ORDER = ['assets', 'resources', 'flows', 'stages', 'update', 'deletion'];

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const turn = ({ moduleId }: TestSpecification) =>
      ORDER.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
    return files.sort((a, b) => turn(a) - turn(b));
  }
}

const root = resolve(import.meta.dirname, '../..');

export default defineConfig({
  root,
  test: {
    include: ['test/deploy/*.test.ts'],
    globalSetup: ['test/deploy/setup.ts'],
    sequence: { sequencer: InOrder },
    // One stack, on which each file goes on where the last one ended.
    fileParallelism: false,
    bail: 1,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 30_000,
  },
});
