import { MODES } from '../../shared/fleet/numbers.ts';
import { type FleetPlan, planFleet } from '../../shared/fleet/plan.ts';
import { type PlanInput, planInputSchema } from '../../shared/fleet/plan-input.ts';
import { INPUTS } from './inputs.ts';

/** What became of the numbers if one input were another. */
export interface WhatIf {
  readonly option: string;
  readonly unit: string;
  readonly from: number;
  readonly to: number;
  /** Only those that are others then. */
  readonly changes: readonly {
    readonly name: string;
    readonly from: string;
    readonly to: string;
  }[];
  readonly decides: string;
  /** What no longer holds, or no longer quite. */
  readonly findings: readonly { readonly state: 'note' | 'error'; readonly name: string }[];
}

/** Each input halved and doubled, all others as they are. Values that it cannot have are left out. */
export function whatIf(input: PlanInput): WhatIf[] {
  const before = planFleet(input);
  const found = new Set(before.checks.map(({ name, state }) => `${state} ${name}`));
  return INPUTS.flatMap(({ option, unit, isWhole, read, planned, change }) => {
    const from = read(input) === undefined ? planned?.(before) : read(input);
    if (from === null || from === undefined) return [];
    const values = [from / 2, from * 2].map((value) => (isWhole ? Math.round(value) : value));
    return values.flatMap((to) => {
      const { data } = planInputSchema.safeParse(change(input, to));
      if (data === undefined || to === from) return [];
      const after = planFleet(data);
      return [
        {
          option,
          unit,
          from,
          to,
          changes: changesBetween(before, after),
          decides: decides(after),
          findings: after.checks.flatMap(({ name, state }) =>
            state === 'ok' || found.has(`${state} ${name}`) ? [] : [{ state, name }],
          ),
        },
      ];
    });
  });
}

/** What ends the growth of completed work: a limit of the account, or the fleet's own ceiling. */
export function decides({ lines }: FleetPlan): string {
  const each = lines.map(({ line, inFlight, needed, decidedBy }) => {
    const what = inFlight < needed ? 'the ceiling' : decidedBy;
    return lines.length === 1 ? what : `${what} (${line})`;
  });
  return each.join(', ');
}

function changesBetween(before: FleetPlan, after: FleetPlan): WhatIf['changes'] {
  const then = numbersOf(after);
  return [...numbersOf(before)].flatMap(([name, from]) => {
    const to = then.get(name) ?? from;
    return from === to ? [] : [{ name, from, to }];
  });
}

function numbersOf(plan: FleetPlan): Map<string, string> {
  const named = (line: string, name: string) => (line === 'shared' ? name : `${line} ${name}`);
  return new Map([
    ...plan.lines.flatMap(({ line, callsPerSecond, bound, allowance }) => [
      [named(line, 'calls/s'), callsPerSecond.toFixed(1)] as const,
      [named(line, 'bound'), String(bound)] as const,
      [named(line, 'frame'), `${allowance.frameSeconds} s`] as const,
    ]),
    ...MODES.flatMap((mode) => [
      [mode, `${plan[mode].processes} × ${plan[mode].gate}`] as const,
      [`${mode} batch`, `${plan[mode].batchSeconds.toFixed(1)} s`] as const,
    ]),
  ]);
}
