import { z } from 'zod';
import { allowanceSettingsSchema } from '../../shared/fleet/allowance-settings.ts';
import { json } from '../../shared/runtime/env.ts';
import type { FunctionPlan } from '../template/stack.ts';
import type { OptionsInput } from './settings.ts';

const environmentSchema = z.object({
  ALLOWANCE: json(allowanceSettingsSchema),
  /** Absent where the function's role is the key. */
  PROVIDER_KEY_PARAMETER: z.string().optional(),
});

/** Whether one of them is told how to call a model. */
export function anyCallsModels(functions: readonly FunctionPlan[]): boolean {
  return functions.some(
    ({ environment }) =>
      environment.ALLOWANCE !== undefined || environment.PROVIDER_KEY_PARAMETER !== undefined,
  );
}

/** As an account that counts no tokens looks from outside: so many that nobody meets the end. */
const UNCOUNTED = 10_000_000_000;

/**
 * The accounts that the workers are told of, so that what was planned is what they meet: one for all,
 * or one of their own for callers with another key.
 * @param keys by the parameter that holds them.
 */
export function accountsOf(
  functions: readonly FunctionPlan[],
  keys: ReadonlyMap<string, string>,
): Pick<OptionsInput, 'account' | 'accounts'> {
  const told = functions.flatMap(({ environment }) => {
    if (environment.ALLOWANCE === undefined) return [];
    const { ALLOWANCE, PROVIDER_KEY_PARAMETER: parameter = '' } =
      environmentSchema.parse(environment);
    const { requestsPerMinute, tokensPerMinute } = ALLOWANCE;
    const account = { requestsPerMinute, tokensPerMinute: tokensPerMinute ?? UNCOUNTED };
    return [{ key: keys.get(parameter), account }];
  });
  const [first, ...others] = told;
  if (first === undefined) return {};
  const accounts = others.flatMap(({ key, account }) =>
    key === undefined || key === first.key ? [] : [[key, account] as const],
  );
  return { account: first.account, accounts: Object.fromEntries(accounts) };
}
