import { type Check, checkPlan } from './check-plan.ts';
import { describePlan, type Figure } from './describe-plan.ts';
import { type Numbers, planNumbers } from './numbers.ts';
import type { PlanInput } from './plan-input.ts';

export interface FleetPlan extends Numbers {
  /** The numbers, each with its reason in words. */
  readonly figures: readonly Figure[];
  /** Every relation that has to hold between them, and whether it does. */
  readonly checks: readonly Check[];
}

/**
 * The numbers of a fleet that can use all of a provider's account and nothing beyond it, each from
 * something measured. It refuses nothing: what does not hold is named in `checks`.
 */
export function planFleet(input: PlanInput): FleetPlan {
  const numbers = planNumbers(input);
  return {
    ...numbers,
    figures: describePlan(numbers, input),
    checks: checkPlan(numbers, input),
  };
}
