import './compile-cache.ts';
import { INPUTS } from './plan/inputs.ts';
import { readOptions } from './read-options.ts';
import { tellFailure } from './tell-failure.ts';

const HELP = `Plans the fleet of chunk workers from cdk/config.ts: its numbers with their reasons, the relations
that have to hold between them, and what would become of them if an input were half or twice as large.

  npm run plan [-- options]

${INPUTS.map(({ option, path }) => `  ${`--${option} N`.padEnd(38)} in the place of ${path}`).join('\n')}

  --json    the same for a program: {input, plan, whatIf},
            and a line {error} where it went wrong
  --help

Options change nothing but what is shown: put what you decide on into cdk/config.ts. Tokens a minute may
be "none", for an account that counts none. It ends with 0 if everything holds (notes included), with 1
if a relation is broken or the configuration is wrong, as \`cdk synth\` would refuse it, and with 2 if it was called wrongly.`;

async function main(): Promise<void> {
  const values = readOptions(process.argv.slice(2), {
    ...Object.fromEntries(INPUTS.map(({ option }) => [option, { type: 'string' } as const])),
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  // Not before it is known what to plan.
  const { tellPlan } = await import('./plan/tell-plan.ts');
  tellPlan(values);
}

try {
  await main();
} catch (error) {
  tellFailure('plan', error, process.argv.slice(2));
}
