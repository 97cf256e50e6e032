import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { requireIssuer } from './authentication-schema.ts';
import type { Config } from './config-schema.ts';
import { tellOfAlarms } from './constructs/alarm.ts';
import { Api } from './constructs/api.ts';
import { Observability } from './constructs/observability/observability.ts';
import { Pages } from './constructs/pages.ts';
import { Summaries } from './constructs/summaries.ts';
import { Thumbnails } from './constructs/thumbnails.ts';
import { asRunLocally } from './local-differences.ts';

export interface GlimpseStackProps extends StackProps {
  config: Config;
  /** Synthesise for the local cloud: the same template, but for local-differences.ts. */
  local?: boolean;
}

export class GlimpseStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { config: given, local = false, ...props }: GlimpseStackProps,
  ) {
    super(scope, id, {
      description: 'Glimpse: thumbnails and summaries, without servers',
      ...props,
    });
    const config = local ? asRunLocally(given) : given;
    requireIssuer(config);
    const { alarmTopic } = config.watching;
    const thumbnails = new Thumbnails(this, 'Thumbnails', { config, local });
    const api = new Api(this, 'Api', { config, local, thumbnails });
    const summaries = new Summaries(this, 'Summaries', { config, local, api });
    // What it costs is told of the processor that is deployed.
    const { architecture } = given;
    const watched = { ...config, architecture };
    new Observability(this, 'Observability', { config: watched, thumbnails, summaries, api });
    if (config.pages !== false) {
      new Pages(this, 'Pages', { config, variants: config.pages, thumbnails, summaries, api });
    }
    if (alarmTopic !== undefined) tellOfAlarms(this, alarmTopic);
  }
}
