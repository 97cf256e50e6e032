import './compile-cache.ts';
import type { Explanation } from './explain/explain-import.ts';
import { printable } from './printable.ts';
import { readOptions } from './read-options.ts';
import { tellFailure } from './tell-failure.ts';
import { UsageError } from './usage-error.ts';

const HELP = `Says why an image looks as it does (its source, version, thumbnails, last error, next try, URLs), or why
an import takes as long as it does (what its rows wait for, what limits the fleet), and what would help.

  npm run explain -- --image KEY | --import ID [options]

  --image KEY       the image, its key in the originals bucket; needs leave to read the buckets and the table
  --import ID       the import, as the address of its page names it
  --outputs FILE    a deployed stack, by the file that "npm run deploy" writes (cdk-outputs.json);
                    without it, the local cloud that "npm start" runs
  --state DIR       the local cloud's, where "npm start -- --state DIR" has another than .glimpse
  --json            the same for a program: {code, words, help}, with the facts or what is measured
  --help

  GLIMPSE_TOKEN     a token of the issuer, for a deployed stack whose API asks for one; where it asks for
                    AWS credentials, those of the environment sign

It ends with 0 when it has explained, with 1 if there is no such import, nothing known of the image or no
answer, and with 2 if it was called wrongly; with --json an error is {error}.`;

async function main(): Promise<void> {
  const values = readOptions(process.argv.slice(2), {
    image: { type: 'string' },
    import: { type: 'string' },
    outputs: { type: 'string' },
    state: { type: 'string', default: '.glimpse' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const { image, import: importId } = values;
  if ((image === undefined) === (importId === undefined)) {
    throw new UsageError('Expected --image KEY or --import ID, what to explain. See --help.');
  }
  // Not before it is known what to explain: what reads an image is not needed for an import.
  const { openTarget } = await import('./target.ts');
  const target = await openTarget(values.outputs, values.state);
  let explanation: Pick<Explanation, 'code' | 'words' | 'help'>;
  if (image === undefined) {
    const { whyImport } = await import('./explain/why-import.ts');
    explanation = await whyImport(target, importId ?? '');
  } else {
    const { whyImage } = await import('./explain/why-image.ts');
    explanation = await whyImage(target, image);
  }
  console.log(values.json ? JSON.stringify(explanation, undefined, 2) : inLines(explanation));
  // A slip in the key, most likely: a script is to notice.
  if (explanation.code === 'unknown') process.exitCode = 1;
}

function inLines({ words, help }: Pick<Explanation, 'words' | 'help'>): string {
  const would = help.map((sentence) => `  - ${sentence}`);
  const lines = [...words, ...(would.length === 0 ? [] : ['What would help:', ...would])];
  return lines.map(printable).join('\n');
}

try {
  await main();
} catch (error) {
  tellFailure('explain', error, process.argv.slice(2));
}
