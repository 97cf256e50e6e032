import type { AllowanceSettings, Mode } from './allowance-settings.ts';
import { type Diagnosis, diagnose, type LineFacts, mostPressing } from './diagnosis.ts';
import { type LineState, NOTHING_KNOWN } from './line-item.ts';
import type { ByMode, Rates } from './measure.ts';
import type { Numbers } from './numbers.ts';
import type { Depth } from './queue-depth.ts';
import type { ToldAccount } from './usage-item.ts';

export interface FleetFacts {
  readonly plan: Numbers;
  readonly rates: ByMode<Rates>;
  readonly queues: ByMode<Depth>;
  readonly states: readonly {
    readonly line: AllowanceSettings['line'];
    readonly state: LineState;
  }[];
  /** What the provider says of each mode's account. */
  readonly told: ByMode<ToldAccount>;
  /** An import that is paused because no call of its mode succeeds. */
  readonly stopped?: (NonNullable<LineFacts['stopped']> & { readonly mode: Mode }) | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface LineDiagnosis {
  readonly line: AllowanceSettings['line'];
  readonly state: LineState;
  readonly diagnosis: Diagnosis;
}

/** Each account's diagnosis, and the one of them that somebody should read first. */
export function diagnoseFleet(facts: FleetFacts): {
  lines: LineDiagnosis[];
  diagnosis: Diagnosis | undefined;
} {
  const { plan, states, stopped, now } = facts;
  const lines = plan.lines.map(({ line, modes, account, callsPerSecond, measured, allowance }) => {
    const state = states.find((each) => each.line === line)?.state ?? NOTHING_KNOWN;
    const diagnosis = diagnose({
      account,
      callsPerSecond,
      interactiveShare: allowance.interactiveShare,
      serviceSeconds: measured.serviceSeconds,
      modes: modes.map((mode) => ({
        mode,
        gate: plan[mode].gate,
        processes: plan[mode].processes,
        queue: facts.queues[mode],
        rates: facts.rates[mode],
      })),
      state,
      told: toldTo(modes, facts.told),
      now,
      ...(stopped !== undefined && modes.includes(stopped.mode) ? { stopped } : {}),
    });
    return { line, state, diagnosis };
  });
  return { lines, diagnosis: mostPressing(lines.map(({ diagnosis }) => diagnosis)) };
}

/** Of two modes that spend one account, whoever has heard. */
function toldTo(modes: readonly Mode[], told: ByMode<ToldAccount>): ToldAccount {
  const heard = (of: keyof ToldAccount) =>
    modes.map((mode) => told[mode][of]).find((limit) => limit !== undefined);
  return { requests: heard('requests'), tokens: heard('tokens') };
}
