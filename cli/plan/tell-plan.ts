import { config } from '../../cdk/config.ts';
import { readConfig } from '../../cdk/config-schema.ts';
import { planInputOf } from '../../cdk/plan-input.ts';
import { planFleet } from '../../shared/fleet/plan.ts';
import { planInWords } from './text.ts';
import { whatIf } from './what-if.ts';
import { withOptions } from './with-options.ts';

/** @param options as they are given, a value for each input that is not to be the configured one. */
export function tellPlan(options: Readonly<Record<string, string | boolean | undefined>>): void {
  const configured = planInputOf(readConfig(config));
  const input = withOptions(configured, options);
  const plan = planFleet(input);
  const alternatives = whatIf(input);
  console.log(
    options.json
      ? JSON.stringify({ input, plan, whatIf: alternatives }, undefined, 2)
      : planInWords(configured, input, plan, alternatives),
  );
  if (plan.checks.some(({ state }) => state === 'error')) process.exitCode = 1;
}
