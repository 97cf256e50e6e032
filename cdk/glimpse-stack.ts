import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Config } from './config-schema.ts';
import { Api } from './constructs/api.ts';
import { Thumbnails } from './constructs/thumbnails.ts';

export interface GlimpseStackProps extends StackProps {
  config: Config;
  /** Synthesise for the local cloud: same template, but for what `GlimpseFunction` lists. */
  local?: boolean;
}

export class GlimpseStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { config, local = false, ...props }: GlimpseStackProps,
  ) {
    super(scope, id, { description: 'Glimpse: thumbnails without servers', ...props });
    const thumbnails = new Thumbnails(this, 'Thumbnails', { config, local });
    new Api(this, 'Api', { config, local, thumbnails });
  }
}
