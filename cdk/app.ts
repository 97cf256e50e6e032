import { App } from 'aws-cdk-lib';
import { config } from './config.ts';
import { parseConfig } from './config-schema.ts';
import { GlimpseStack } from './glimpse-stack.ts';

const app = new App();

/** The local cloud synthesises with `-c local=true`: see local-differences.ts. */
const local = app.node.tryGetContext('local') === 'true';

/** `-c architecture=x86_64` is for one deployment what `architecture` of the configuration is for all. */
const architecture: unknown = app.node.tryGetContext('architecture') ?? config.architecture;

new GlimpseStack(app, 'Glimpse', { config: parseConfig({ ...config, architecture }), local });
