import './compile-cache.ts';
import { readOptions } from './read-options.ts';
import { tellFailure } from './tell-failure.ts';

const HELP = `Deletes a stage's stack, after it has said what stays: pictures, imported files and what was made of them.

  npm run destroy -- [options]

  --stage NAME   production without it
  --yes          does not ask for the stack's name first
  --dry-run      says what stays, and deletes nothing
  --json         what stays as JSON, for a program: [{logicalId, type, name, holds}],
                 and a line {error} where it went wrong
  --help

AWS_PROFILE chooses the account, AWS_REGION the region. Nothing that a person has put in, and nothing that was paid
for, is deleted: remove the buckets and tables that it names yourself. It ends with 0 when the stack is gone, with 1
where it could not be deleted, and with 2 if it was called wrongly or not consented to. Interrupted, CloudFormation
goes on.`;

async function main(): Promise<void> {
  const values = readOptions(process.argv.slice(2), {
    stage: { type: 'string' },
    yes: { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  // Not before it is known what to delete.
  const { openStage } = await import('./deploy/stage-options.ts');
  const stage = openStage(values.stage);
  const { destroyStage } = await import('./destroy/destroy-stage.ts');
  await destroyStage(stage, values);
}

try {
  await main();
} catch (error) {
  tellFailure('destroy', error, process.argv.slice(2));
}
