import { App } from 'aws-cdk-lib';
import { withContext } from './authentication-schema.ts';
import { stages } from './config.ts';
import { parseConfig } from './config-schema.ts';
import { GlimpseStack } from './glimpse-stack.ts';
import { FIRST_STAGE, stageOf } from './stage.ts';

const app = new App();

/** The local cloud synthesises with `-c local=true`: see local-differences.ts. */
const local = app.node.tryGetContext('local') === 'true';

const { config, stackName } = stageOf(stages, app.node.tryGetContext('stage') ?? FIRST_STAGE);

/** `-c architecture=x86_64` is for one deployment what `architecture` of the configuration is for all. */
const architecture: unknown = app.node.tryGetContext('architecture') ?? config.architecture;

const authentication = withContext(config.authentication, (name) => app.node.tryGetContext(name));

// Some of the names in the template come from this one, which is therefore the same for every stage.
new GlimpseStack(app, 'Glimpse', {
  stackName,
  config: parseConfig({ ...config, architecture, authentication }),
  local,
});
