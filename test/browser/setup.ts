import { resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { unpackChromium } from './chromium.ts';

// A global setup: two workers must not unpack the browser at the same time.

declare module 'vitest' {
  interface ProvidedContext {
    chromium: string | undefined;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  project.provide('chromium', await unpackChromium(resolve(import.meta.dirname, '../..')));
}
