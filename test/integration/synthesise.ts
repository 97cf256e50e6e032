import { resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { synthesise } from '../../local/synthesis.ts';

// A global setup: the real stack is synthesised once for all tests that run it, and not at all if
// nothing has changed. They get the folder by `inject('cdkOut')`.

declare module 'vitest' {
  interface ProvidedContext {
    cdkOut: string;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  const root = resolve(import.meta.dirname, '../..');
  project.provide('cdkOut', await synthesise(root));
}
