import { config } from '../cdk/config.ts';
import { readConfig } from '../cdk/config-schema.ts';
import { planInputOf } from '../cdk/plan-input.ts';
import { planFleet } from '../shared/fleet/plan.ts';
import { INPUTS, withOptions } from './plan/inputs.ts';
import { planInWords } from './plan/text.ts';
import { whatIf } from './plan/what-if.ts';
import { readOptions } from './read-options.ts';

const HELP = `Plans the fleet of chunk workers from cdk/config.ts: its numbers with their reasons, the relations
that have to hold between them, and what would become of them if an input were half or twice as large.

  npm run plan [-- options]

${INPUTS.map(({ option, path }) => `  ${`--${option} N`.padEnd(38)} in the place of ${path}`).join('\n')}

  --json    the same for a program: {input, plan, whatIf}
  --help

Options change nothing but what is shown: put what you decide on into cdk/config.ts. Tokens a minute may
be "none", for an account that counts none. It ends with 0 if everything holds (notes included), with 1
if a relation is broken, as \`cdk synth\` would refuse it, and with 2 if it was called wrongly.`;

function main(): void {
  const values = readOptions(process.argv.slice(2), {
    ...Object.fromEntries(INPUTS.map(({ option }) => [option, { type: 'string' } as const])),
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const configured = planInputOf(readConfig(config));
  const input = withOptions(configured, values);
  const plan = planFleet(input);
  const alternatives = whatIf(input);
  console.log(
    values.json
      ? JSON.stringify({ input, plan, whatIf: alternatives }, undefined, 2)
      : planInWords(configured, input, plan, alternatives),
  );
  if (plan.checks.some(({ state }) => state === 'error')) process.exitCode = 1;
}

try {
  main();
} catch (error) {
  console.error(error instanceof Error ? `plan: ${error.message}` : error);
  process.exitCode = 2;
}
