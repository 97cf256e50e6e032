import './compile-cache.ts';
import { readOptions } from './read-options.ts';
import { tellFailure } from './tell-failure.ts';
import { UsageError } from './usage-error.ts';

const HELP = `Builds the pages and puts them into a deployed stack's bucket, where CloudFront finds them.

  npm run publish-pages -- --outputs FILE

  --outputs FILE    the stack's outputs, as "npm run deploy" writes them (cdk-outputs.json)
  --help

"npm run deploy" does this by itself. Browsers and CloudFront ask for pages anew each time, so there
is nothing to invalidate; files with a digest in their names are kept for a year. Those of earlier
builds stay in the bucket, for whoever has an earlier page open.`;

async function main(): Promise<void> {
  const values = readOptions(process.argv.slice(2), {
    outputs: { type: 'string' },
    help: { type: 'boolean', default: false },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  if (values.outputs === undefined) {
    throw new UsageError(
      'Expected --outputs FILE, a deployed stack: the local cloud serves the pages by itself. See --help.',
    );
  }
  // Not before it is known where to.
  const { openTarget } = await import('./target.ts');
  const target = await openTarget(values.outputs, '.glimpse');
  const { requireStack } = await import('./destroy/require-stack.ts');
  await requireStack(target);
  const { publishPages } = await import('./publish.ts');
  await publishPages(target);
}

try {
  await main();
} catch (error) {
  tellFailure('publish-pages', error);
}
