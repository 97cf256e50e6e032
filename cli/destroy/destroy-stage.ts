import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStacks } from '../account.ts';
import { openClients } from '../clients.ts';
import { cannotBeAsked } from '../deploy/look-ahead.ts';
import { outputsFileOf } from '../deploy/stage-options.ts';
import { printable } from '../printable.ts';
import { createProgress } from '../progress.ts';
import { UsageError } from '../usage-error.ts';
import { deleteStack, findStack } from './delete-stack.ts';
import { type Staying, whatStays } from './what-stays.ts';

const root = resolve(import.meta.dirname, '../..');

const PAUSE_MS = 2000;
/** Of a log: CloudFront takes its minutes. */
const TOLD_MS = 30_000;

export interface DestroyOptions {
  yes: boolean;
  'dry-run': boolean;
  json: boolean;
}

/** Says what stays of a stage, and deletes its stack when somebody has consented. */
export async function destroyStage(
  stage: { name: string; stackName: string },
  options: DestroyOptions,
): Promise<void> {
  const { name, stackName } = stage;
  const stacks = openStacks();
  const stack = await findStack(stacks, stackName).catch(cannotBeAsked);
  if (stack === undefined) {
    throw new UsageError(
      `There is no stack ${stackName} in this account and region: nothing to delete. Choose them by AWS_PROFILE and AWS_REGION.`,
    );
  }
  const staying = await whatStays(stacks, openClients({}), stackName);
  const say = options.json ? () => {} : (line: string) => console.log(printable(line));
  if (options.json) console.log(JSON.stringify(staying, undefined, 2));
  say(`What stays of ${stackName}, the stage ${name}:`);
  for (const { type, name: physical, holds } of staying) say(`  ${type} ${physical}: ${holds}`);
  say('Functions, queues with what is in them, logs, the API, the pages’ address and alarms go.');
  if (options['dry-run']) return;
  if (!options.yes) await consent(stackName);

  const progress = createProgress({ betweenMs: TOLD_MS });
  for await (const { state, seconds, reasons } of deleteStack(
    stacks,
    stack.StackId ?? stackName,
    () => sleep(PAUSE_MS),
  )) {
    if (state === 'deleting') {
      progress.show(`Deleting ${stackName} · ${seconds.toFixed(0)} s`);
      continue;
    }
    progress.end();
    if (state === 'failed') {
      throw new Error(`${stackName} could not be deleted: ${reasons.join('; ')}`);
    }
    say(`${stackName} is deleted, after ${seconds.toFixed(0)} s. To remove what stays as well:`);
    for (const each of staying) say(`  ${removal(each)}`);
    // It may be of a stack elsewhere that has the same name.
    const outputs = outputsFileOf(stage);
    if (existsSync(join(root, outputs))) say(`  rm ${outputs}   where it is this stack’s`);
    say(
      'To use the buckets again, name them in "adopt" of cdk/config.ts before the next deployment.',
    );
  }
}

async function consent(stackName: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new UsageError('Expected --yes where nobody can be asked.');
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const typed = await terminal.question(`Type ${stackName} to delete the stack: `);
  terminal.close();
  if (typed.trim() !== stackName) throw new UsageError('Nothing was deleted.');
}

function removal({ type, name, logicalId }: Staying): string {
  if (type === 'bucket') return `aws s3 rb --force s3://${name}`;
  if (type === 'table') return `aws dynamodb delete-table --table-name ${name}`;
  return `${logicalId}, by its console`;
}
