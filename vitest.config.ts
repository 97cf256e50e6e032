import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** In the order in which they run: a process is used again only for the next file of its project. */
const PROJECTS = ['browser', 'integration', 'cdk', 'unit'];

/** Begun last, one of these would run alone at the end. */
const LONGEST = [
  'browser/gallery',
  'browser/many',
  'browser/element',
  'browser/imports',
  // It waits for a minute, and the others have the processor.
  'imports/kills',
  'integration/flows',
  'local/restart',
  'integration/api',
  'local/mappings',
  'local/keys',
  'integration/claims',
  'local/functions',
  'cdk/grants',
  'cdk/nag',
  'thumbnails/memory-budget',
  'thumbnails/render-hostile',
  'cli/sample',
  'thumbnails/sign-url',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return found === -1 ? LONGEST.length : found;
    };
    const turn = ({ project }: TestSpecification) => PROJECTS.indexOf(project.name);
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => turn(a) - turn(b) || rank(a) - rank(b));
  }
}

/** In memory, where there is enough: the engines' databases wait for the disk at every write. */
function temporaryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    accessSync('/dev/shm', constants.W_OK);
    if (bavail * bsize > 2 ** 31) return '/dev/shm';
  } catch {
    // Not on this system.
  }
  return tmpdir();
}

// To touch a page of memory for the first time takes a virtual machine up to 12 µs. A quarter fewer of these
// where glibc can have pages of 2 MB, and a young heap is used again sooner.
process.env.GLIBC_TUNABLES = 'glibc.malloc.hugetlb=1';
const execArgv = ['--max-semi-space-size=4'];

export default defineConfig({
  test: {
    // One more than the smallest machine that must prove it has cores: most files wait a third of
    // their time, for a browser, an engine or a process.
    maxWorkers: 3,
    // Of the many processes that the tests start, only the first of a kind compiles its modules.
    env: {
      NODE_COMPILE_CACHE: resolve(import.meta.dirname, '.glimpse/compile-cache'),
      TMPDIR: temporaryFolder(),
    },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          isolate: false,
          execArgv,
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'cdk',
          include: ['test/cdk/**/*.test.ts'],
          isolate: false,
          execArgv,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          isolate: false,
          execArgv,
          globalSetup: 'test/integration/synthesise.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          isolate: false,
          execArgv,
          globalSetup: ['test/integration/synthesise.ts', 'test/browser/setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 15_000, interval: 100 } },
        },
      },
    ],
  },
});
