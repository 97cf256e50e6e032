import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { afterAll } from 'vitest';
import { config } from '../../cdk/config.ts';
import { type ConfigInput, parseConfig } from '../../cdk/config-schema.ts';
import { GlimpseStack } from '../../cdk/glimpse-stack.ts';

export interface SynthOptions {
  changes?: Partial<ConfigInput>;
  local?: boolean;
}

// Each synthesis writes a folder; they go with the test file that wrote them.
const folder = mkdtempSync(join(tmpdir(), 'glimpse-synth-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The stack of a configuration, without bundling its functions. */
export function stackOf({ changes = {}, local = false }: SynthOptions = {}): GlimpseStack {
  const outdir = mkdtempSync(join(folder, 'cdk.out-'));
  const app = new App({ outdir, context: { 'aws:cdk:bundling-stacks': [] } });
  return new GlimpseStack(app, 'Glimpse', {
    config: parseConfig({ ...config, ...changes }),
    local,
  });
}

export function templateOf(options: SynthOptions = {}): Template {
  return Template.fromStack(stackOf(options));
}
