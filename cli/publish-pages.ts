import { resolve } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { buildWeb } from '../web/build.ts';
import { builtFiles } from '../web/files.ts';
import { publish } from './publish.ts';
import { readOptions } from './read-options.ts';
import { openTarget, UsageError } from './target.ts';

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
  const { description, outputs } = await openTarget(values.outputs, '.glimpse');
  const { PagesBucket: bucket, PagesConfig: config, PagesUrl: url } = outputs;
  if (bucket === undefined || config === undefined) {
    console.log(`Nothing to publish: ${description} has no pages (cdk/config.ts: pages).`);
    return;
  }
  const root = resolve(import.meta.dirname, '..');
  await buildWeb(root);
  const files = builtFiles(root);
  console.log(`The pages of ${description} go to s3://${bucket}`);
  // The shell's region may be another than the one that the stack was deployed to.
  const client = new S3Client({ followRegionRedirects: true });
  for await (const { path, bytes } of publish({ client, bucket, files, config })) {
    console.log(`  ${path.padEnd(40)} ${(bytes / 1000).toFixed(1).padStart(8)} KB`);
  }
  console.log(`Done: ${url ?? 'published'}`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? `publish-pages: ${error.message}` : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
