import './compile-cache.ts';
import { readOptions } from './read-options.ts';
import { tellFailure } from './tell-failure.ts';
import { UsageError } from './usage-error.ts';

const HELP = `Deploys a stage of cdk/config.ts as a stack of its own: synthesises it, looks at what would be uploaded,
deploys it with the CDK, uploads the pages and prints the addresses.

  npm run deploy -- [options]

  --stage NAME         production without it; its stack is Glimpse, another's Glimpse-NAME
  --architecture NAME  arm64 or x86_64, for this deployment what "architecture" of the configuration is for all
  --issuer URL, --audience NAME, --client-id ID
                       for this deployment what "authentication" of the configuration is for all
  --bootstrap          prepares the account and region for the CDK first, where it is not
  --yes                asks nothing: without it the CDK shows what the stack may newly do, and waits for consent
  --direct             without a change set, which is faster and undoes less where it fails
  --app FOLDER         deploys what "npm run synth" has written there
  --outputs FILE       where the outputs are written: cdk-outputs.json without it, of another stage than
                       production cdk-outputs.NAME.json
  --help

AWS_PROFILE chooses the account, AWS_REGION the region. It ends with 0 when all is done, with 1 where something
failed, and with 2 if it was called wrongly. Interrupted, CloudFormation goes on: deploy again to see how it ended.`;

async function main(): Promise<void> {
  const values = readOptions(process.argv.slice(2), {
    stage: { type: 'string' },
    architecture: { type: 'string' },
    issuer: { type: 'string' },
    audience: { type: 'string' },
    'client-id': { type: 'string' },
    bootstrap: { type: 'boolean', default: false },
    yes: { type: 'boolean', default: false },
    direct: { type: 'boolean', default: false },
    app: { type: 'string' },
    outputs: { type: 'string' },
    help: { type: 'boolean', default: false },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const { architecture: processor, issuer, audience, 'client-id': clientId } = values;
  const given = { architecture: processor, issuer, audience, clientId };
  const isGiven = Object.values(given).some((value) => value !== undefined);
  if (values.app !== undefined && isGiven) {
    throw new UsageError(
      'Expected --app without --architecture, --issuer, --audience and --client-id: what is synthesised has them already.',
    );
  }
  // Not before it is known what to deploy.
  const { openStage, requireSignIn } = await import('./deploy/stage-options.ts');
  const stage = openStage(values.stage, given);
  if (values.app === undefined) requireSignIn(stage);
  const { deployStage } = await import('./deploy/deploy-stage.ts');
  await deployStage(stage, { ...values, given });
}

try {
  await main();
} catch (error) {
  tellFailure('deploy', error);
}
