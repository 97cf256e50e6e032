import type { AllowanceSettings, Mode } from './allowance-settings.ts';
import { diagnose } from './diagnose-line.ts';
import { type Diagnosis, mostPressing } from './diagnosis.ts';
import type { ImportFacts } from './line-facts.ts';
import { type LineState, NOTHING_KNOWN } from './line-item.ts';
import { type ByMode, type Measured, toldBy } from './measure.ts';
import type { Numbers } from './numbers.ts';
import type { Depth } from './queue-depth.ts';
import type { UsageItem } from './usage-item.ts';

export interface FleetFacts {
  readonly plan: Numbers;
  readonly measured: Measured;
  readonly queues: ByMode<Depth>;
  readonly states: readonly {
    readonly line: AllowanceSettings['line'];
    readonly state: LineState;
  }[];
  /** What was done, with what the provider said of the account meanwhile. */
  readonly usage: ByMode<readonly UsageItem[]>;
  /** Of both modes; undefined where they were not looked at. */
  readonly imports?: FleetImports | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

type OfMode<T> = T & { readonly mode: Mode };

export interface FleetImports {
  readonly running: ImportFacts['running'];
  readonly paused: readonly OfMode<{ readonly name: string | undefined }>[];
  readonly stopped?: OfMode<NonNullable<ImportFacts['stopped']>> | undefined;
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
  const { plan, measured: seen, states, imports, now } = facts;
  const lines = plan.lines.map(({ line, modes, account, callsPerSecond, measured, allowance }) => {
    const state = states.find((each) => each.line === line)?.state ?? NOTHING_KNOWN;
    const diagnosis = diagnose({
      account,
      callsPerSecond,
      interactiveShare: allowance.interactiveShare,
      frameSeconds: allowance.frameSeconds,
      serviceSeconds: measured.serviceSeconds,
      modes: modes.map((mode) => ({
        mode,
        gate: plan[mode].gate,
        processes: plan[mode].processes,
        chunkRows: plan[mode].batchRows / plan[mode].batchChunks,
        queue: facts.queues[mode],
        rates: seen.rates[mode],
        lately: seen.lately[mode],
        run: seen.runs[mode],
      })),
      state,
      told: toldBy(modes.flatMap((mode) => facts.usage[mode])),
      imports: imports && importsOf(modes, imports),
      now,
    });
    return { line, state, diagnosis };
  });
  return { lines, diagnosis: mostPressing(lines.map(({ diagnosis }) => diagnosis)) };
}

function importsOf(
  modes: readonly Mode[],
  { running, paused, stopped }: FleetImports,
): ImportFacts {
  return {
    running: running.filter(({ mode }) => modes.includes(mode)),
    paused: paused.filter(({ mode }) => modes.includes(mode)).map(({ name }) => name),
    stopped: stopped !== undefined && modes.includes(stopped.mode) ? stopped : undefined,
  };
}
