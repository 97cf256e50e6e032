import { parseImageKey } from '../shared/thumbnails/image-key.ts';
import { authorizeFor } from './authorize.ts';
import { askApi, fleetSchema, importSchema } from './explain/ask-api.ts';
import { explainImage } from './explain/explain-image.ts';
import { type Explanation, explainImport } from './explain/explain-import.ts';
import { readImageFacts } from './explain/read-image.ts';
import { readOptions } from './read-options.ts';
import { openTarget, type Target, UsageError } from './target.ts';
import { tellFailure } from './tell-failure.ts';

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
  const target = await openTarget(values.outputs, values.state);
  const explanation =
    image === undefined
      ? await askWhyImport(target, importId ?? '')
      : explainImage(
          await readImageFacts(target, keyOf(image)),
          target.outputs.Variants,
          Date.now(),
        );
  console.log(values.json ? JSON.stringify(explanation, undefined, 2) : inLines(explanation));
  // A slip in the key, most likely: a script is to notice.
  if (explanation.code === 'unknown') process.exitCode = 1;
}

function keyOf(image: string): string {
  try {
    return parseImageKey(image);
  } catch (cause) {
    throw new UsageError(`--${cause instanceof Error ? cause.message : cause}.`, { cause });
  }
}

async function askWhyImport(target: Target, id: string): Promise<Explanation> {
  const { outputs, description } = target;
  const api = outputs.ApiUrl;
  if (api === undefined) {
    throw new UsageError(
      `Expected the output ApiUrl of ${description}, got none: deploy it again with this version.`,
    );
  }
  const authorize = authorizeFor(target, process.env);
  const [told, fleet] = await Promise.all([
    askApi(api, `/imports/${encodeURIComponent(id)}`, importSchema, authorize),
    askApi(api, '/fleet', fleetSchema, authorize),
  ]);
  return explainImport(told, fleet, Date.now());
}

function inLines({ words, help }: Pick<Explanation, 'words' | 'help'>): string {
  const would = help.map((sentence) => `  - ${sentence}`);
  return [...words, ...(would.length === 0 ? [] : ['What would help:', ...would])].join('\n');
}

try {
  await main();
} catch (error) {
  tellFailure('explain', error, process.argv.slice(2));
}
