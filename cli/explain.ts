import { askApi, fleetSchema, importSchema } from './explain/ask-api.ts';
import { type Explanation, explainImport } from './explain/explain-import.ts';
import { readOptions } from './read-options.ts';
import { openTarget, UsageError } from './target.ts';

const HELP = `Says why an import takes as long as it does: what its rows wait for, what limits the fleet, and what
would help, from what is measured now.

  npm run explain -- --import ID [options]

  --import ID       the import, as the address of its page names it
  --outputs FILE    a deployed stack, by the file that "npm run deploy" writes (cdk-outputs.json);
                    without it, the local cloud that "npm start" runs
  --state DIR       the local cloud's, where "npm start -- --state DIR" has another than .glimpse
  --json            the same for a program: {code, words, help, measured}
  --help

It ends with 0 when it has explained, with 1 if there is no such import or no answer, and with 2 if it
was called wrongly.`;

async function main(): Promise<void> {
  const values = readOptions(process.argv.slice(2), {
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
  if (values.import === undefined) {
    throw new UsageError('Expected --import ID, the import to explain. See --help.');
  }
  const { outputs, description } = await openTarget(values.outputs, values.state);
  const api = outputs.ApiUrl;
  if (api === undefined) {
    throw new UsageError(
      `Expected the output ApiUrl of ${description}, got none: deploy it again with this version.`,
    );
  }
  const [told, fleet] = await Promise.all([
    askApi(api, `/imports/${encodeURIComponent(values.import)}`, importSchema),
    askApi(api, '/fleet', fleetSchema),
  ]);
  const explanation = explainImport(told, fleet, Date.now());
  console.log(values.json ? JSON.stringify(explanation, undefined, 2) : inLines(explanation));
}

function inLines({ words, help }: Explanation): string {
  const would = help.map((sentence) => `  - ${sentence}`);
  return [...words, ...(would.length === 0 ? [] : ['What would help:', ...would])].join('\n');
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? `explain: ${error.message}` : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
