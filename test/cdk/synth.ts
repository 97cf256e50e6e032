import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { config } from '../../cdk/config.ts';
import { type ConfigInput, parseConfig } from '../../cdk/config-schema.ts';
import { GlimpseStack } from '../../cdk/glimpse-stack.ts';

export interface SynthOptions {
  changes?: Partial<ConfigInput>;
  local?: boolean;
}

/** The stack of a configuration, without bundling its functions. */
export function stackOf({ changes = {}, local = false }: SynthOptions = {}): GlimpseStack {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  return new GlimpseStack(app, 'Glimpse', {
    config: parseConfig({ ...config, ...changes }),
    local,
  });
}

export function templateOf(options: SynthOptions = {}): Template {
  return Template.fromStack(stackOf(options));
}
