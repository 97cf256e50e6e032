import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config } from '../../cdk/config-schema.ts';
import type { Stage } from '../../cdk/stage.ts';
import { providerOf } from '../../cdk/summaries-schema.ts';
import { openParameters } from '../account.ts';
import { isToldOfUploads } from '../buckets.ts';
import { openClients } from '../clients.ts';
import { publishPages } from '../publish.ts';
import { openTarget } from '../target.ts';
import { UsageError } from '../usage-error.ts';
import { checkAssembly } from './check-assembly.ts';
import { lookAhead, requireBuckets } from './look-ahead.ts';
import { requirePlaces } from './require-places.ts';
import { runCdk } from './run-cdk.ts';
import { outputsFileOf } from './stage-options.ts';

const root = resolve(import.meta.dirname, '../..');

export interface DeployOptions {
  /** What is for this deployment alone. */
  given: Readonly<Record<string, string | undefined>>;
  bootstrap: boolean;
  yes: boolean;
  direct: boolean;
  app?: string | undefined;
  outputs?: string | undefined;
}

/** Synthesises a stage, looks at what would be uploaded, deploys it, and uploads its pages. */
export async function deployStage(stage: Stage<Config>, options: DeployOptions): Promise<void> {
  const { stackName, config } = stage;
  const folder = options.app ?? join('cdk.out', stage.name);
  const outputs = resolve(options.outputs ?? join(root, outputsFileOf(stage)));
  requirePlaces(options.app && resolve(root, folder), outputs);
  console.log(`Deploying the stage ${stage.name} as the stack ${stackName}`);

  const modes = [config.summaries.interactive, config.summaries.bulk];
  const keys = modes.flatMap(
    (mode) => providerOf(config.summaries.provider, mode).keyParameter ?? [],
  );
  const { isBootstrapped, missingKeys } = await lookAhead(openParameters(), keys);
  const { s3 } = openClients({});
  await requireBuckets(s3, config.adopt);
  if (!isBootstrapped && !options.bootstrap) {
    throw new UsageError(
      'This account and region are not prepared for the CDK: deploy with --bootstrap, once.',
    );
  }

  if (options.app === undefined) {
    step('Synthesising');
    const context = Object.entries({ stage: stage.name, ...options.given }).flatMap(
      ([name, value]) => (value === undefined ? [] : ['--context', `${name}=${value}`]),
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
  await runCdk([
    'deploy',
    ...['--app', folder],
    ...['--outputs-file', outputs],
    ...['--require-approval', options.yes ? 'never' : 'broadening'],
    ...(options.direct ? ['--method', 'direct', '--no-previous-parameters'] : []),
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
