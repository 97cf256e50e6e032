import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { config } from '../../cdk/config.ts';
import { type ConfigInput, parseConfig } from '../../cdk/config-schema.ts';
import { GlimpseStack } from '../../cdk/glimpse-stack.ts';

/** Where the file has nobody's. */
export const AUTHENTICATION: ConfigInput['authentication'] = {
  kind: 'jwt',
  issuer: 'https://issuer.example/pool',
  audience: 'glimpse',
  pages: { clientId: 'glimpse-pages', scope: 'openid', origins: [] },
};

export interface SynthOptions {
  changes?: Partial<ConfigInput>;
  local?: boolean;
}

/** The stack of a configuration, without bundling its functions. It is synthesised to `outdir`. */
export function stackOf(outdir: string, { changes = {}, local = false }: SynthOptions = {}) {
  const app = new App({
    outdir,
    context: { 'aws:cdk:bundling-stacks': [] },
    // What it finds are warnings, which no test reads and a deployment prints; to load it costs more
    // of the processor than all that is synthesised here.
    builtinCloudFormationValidation: false,
  });
  return new GlimpseStack(app, 'Glimpse', {
    config: parseConfig({ ...config, authentication: AUTHENTICATION, ...changes }),
    local,
  });
}

const templates = new Map<string, Template>();

/** Each configuration is synthesised once, for all files that run in this process. */
export function templateOf(options: SynthOptions = {}): Template {
  const key = JSON.stringify(options);
  const template = templates.get(key) ?? synthesise(options);
  templates.set(key, template);
  return template;
}

function synthesise(options: SynthOptions): Template {
  const outdir = temporaryFolder();
  try {
    return Template.fromStack(stackOf(outdir, options));
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'glimpse-synth-'));
