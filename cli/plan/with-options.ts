import type * as z from 'zod';
import { type PlanInput, planInputSchema } from '../../shared/fleet/plan-input.ts';
import { UsageError } from '../usage-error.ts';
import { INPUTS, type Input } from './inputs.ts';

/** @throws UsageError for a value that the configuration would refuse. */
export function withOptions(
  configured: PlanInput,
  given: Readonly<Record<string, string | boolean | undefined>>,
): PlanInput {
  return INPUTS.reduce((input, each) => {
    const text = given[each.option];
    return typeof text === 'string' ? withOption(input, each, text) : input;
  }, configured);
}

/** As people write numbers: `0x10` and `1e3` are slips, and so is `Infinity`. */
const WHOLE = /^-?\d+$/;
const DECIMAL = /^-?(?:\d+|\d*\.\d+)$/;

function withOption(
  input: PlanInput,
  { option, path, isWhole, change }: Input,
  text: string,
): PlanInput {
  const isNumber = (isWhole ? WHOLE : DECIMAL).test(text);
  const value = text === 'none' ? null : isNumber ? Number(text) : Number.NaN;
  const changed = change(input, value);
  if (changed === undefined) {
    throw new UsageError(
      `--${option}: expected a configuration in which this mode has an account for itself (${path}), got one without.`,
    );
  }
  const { data, error } = planInputSchema.safeParse(changed);
  if (data !== undefined) return data;
  const issue = narrowest(error?.issues ?? []);
  throw new UsageError(`--${option}: expected ${expectedBy(issue, isWhole)}, got "${text}".`);
}

/** Of a whole number there are two bounds on either side: the configuration's, and the largest that is exact. */
function narrowest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const distance = (issue: z.core.$ZodIssue): number => {
    switch (issue.code) {
      case 'too_small':
        return Math.abs(Number(issue.minimum));
      case 'too_big':
        return Math.abs(Number(issue.maximum));
      default:
        return 0;
    }
  };
  return issues.toSorted((one, other) => distance(one) - distance(other))[0];
}

function expectedBy(issue: z.core.$ZodIssue | undefined, isWhole: boolean): string {
  const number = isWhole ? 'a whole number' : 'a number';
  switch (issue?.code) {
    case 'too_small':
      return `${number} ${issue.inclusive ? `from ${issue.minimum} up` : `above ${issue.minimum}`}`;
    case 'too_big':
      return `${number} ${issue.inclusive ? `up to ${issue.maximum}` : `below ${issue.maximum}`}`;
    default:
      return number;
  }
}
