import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SSMClient } from '@aws-sdk/client-ssm';
import { providerOf } from '../cdk/summaries-schema.ts';
import { isToldOfUploads } from './buckets.ts';
import { openClients } from './clients.ts';
import { checkAssembly } from './deploy/check-assembly.ts';
import { lookAhead, requireBuckets } from './deploy/look-ahead.ts';
import { runCdk } from './deploy/run-cdk.ts';
import { openStage, outputsFileOf, requireSignIn } from './deploy/stage-options.ts';
import { publishPages } from './publish.ts';
import { readOptions } from './read-options.ts';
import { openTarget, UsageError } from './target.ts';

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

const root = resolve(import.meta.dirname, '..');

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
  const stage = openStage(values.stage, given);
  const { stackName, config } = stage;
  if (values.app === undefined) requireSignIn(stage);
  console.log(`Deploying the stage ${stage.name} as the stack ${stackName}`);

  const modes = [config.summaries.interactive, config.summaries.bulk];
  const keys = modes.flatMap(
    (mode) => providerOf(config.summaries.provider, mode).keyParameter ?? [],
  );
  const { isBootstrapped, missingKeys } = await lookAhead(new SSMClient(), keys);
  const { s3 } = openClients({});
  await requireBuckets(s3, config.adopt);
  if (!isBootstrapped && !values.bootstrap) {
    throw new UsageError(
      'This account and region are not prepared for the CDK: deploy with --bootstrap, once.',
    );
  }

  const folder = values.app ?? join('cdk.out', stage.name);
  if (values.app === undefined) {
    step('Synthesising');
    const context = Object.entries({ stage: stage.name, ...given }).flatMap(([name, value]) =>
      value === undefined ? [] : ['--context', `${name}=${value}`],
    );
    await rm(resolve(root, folder), { recursive: true, force: true });
    await runCdk(['synth', '--quiet', '--output', folder, ...context]);
  }
  const { assets, bytes, architecture } = checkAssembly(resolve(root, folder));
  const size = (bytes / 2 ** 20).toFixed(1);
  console.log(`${assets} functions' code, ${size} MiB unzipped, for ${architecture}`);

  if (!isBootstrapped) {
    step('Preparing the account and region');
    await runCdk(['bootstrap', '--app', folder]);
  }

  step('Deploying');
  const outputs = resolve(values.outputs ?? join(root, outputsFileOf(stage)));
  await runCdk([
    'deploy',
    ...['--app', folder],
    ...['--outputs-file', outputs],
    ...['--require-approval', values.yes ? 'never' : 'broadening'],
    ...(values.direct ? ['--method', 'direct', '--no-previous-parameters'] : []),
  ]);

  step('Uploading the pages');
  const target = await openTarget(outputs, '.glimpse');
  await publishPages(target);

  step(`${stackName} is deployed`);
  const { ApiUrl, ApiAuthentication, PagesUrl, OriginalsBucket, NotificationsToAdd } =
    target.outputs;
  if (PagesUrl !== undefined) console.log(`pages    ${PagesUrl}`);
  if (ApiUrl !== undefined) console.log(`API      ${ApiUrl}`);
  console.log(`outputs  ${outputs}`);
  if (ApiAuthentication === 'none') {
    console.log("\nThe API is open to everyone: authentication is {kind: 'none'}.");
  }
  if (
    NotificationsToAdd !== undefined &&
    // Whoever may not look is told as well.
    !(await isToldOfUploads(s3, OriginalsBucket, NotificationsToAdd).catch(() => false))
  ) {
    console.log(
      `\nThumbnails wait to be asked for until the bucket ${OriginalsBucket} tells of uploads. Add to what it tells already\n(aws s3api get- and put-bucket-notification-configuration; put replaces all of it):\n  ${NotificationsToAdd}`,
    );
  }
  for (const name of missingKeys) {
    console.log(
      `\nSummaries wait for the provider's key:\n  aws ssm put-parameter --type SecureString --name ${name} --value KEY`,
    );
  }
}

function step(name: string): void {
  console.log(`\n${name}`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? `deploy: ${error.message}` : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
