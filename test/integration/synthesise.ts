import { resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildPages } from '../../local/pages/built.ts';
import { synthesise } from '../../local/synthesis.ts';

// A global setup: the real stack is synthesised and its pages are built once for all tests that run
// them, and not at all if nothing has changed. They get the stack's folder by `inject('cdkOut')`.

declare module 'vitest' {
  interface ProvidedContext {
    cdkOut: string;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  const root = resolve(import.meta.dirname, '../..');
  const [cdkOut] = await Promise.all([synthesise(root), buildPages(root)]);
  project.provide('cdkOut', cdkOut);
}
