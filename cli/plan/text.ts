import { amount } from '../../shared/fleet/describe-plan.ts';
import type { FleetPlan } from '../../shared/fleet/plan.ts';
import type { PlanInput } from '../../shared/fleet/plan-input.ts';
import { INPUTS } from './inputs.ts';
import { decides, type WhatIf } from './what-if.ts';

/** The plan for somebody to read: what it follows from, the numbers, what holds, and what if. */
export function planInWords(
  configured: PlanInput,
  input: PlanInput,
  plan: FleetPlan,
  alternatives: readonly WhatIf[],
): string {
  return [
    heading('Inputs'),
    ...inputsInWords(configured, input),
    heading('Numbers'),
    ...columns(
      plan.figures.map(({ name, value, unit, reason }) => [name, amount(value), unit, reason]),
      [1],
    ),
    heading('Relations'),
    ...plan.checks.map(({ state, name, says, path }) =>
      state === 'ok' ? `  ok     ${name}: ${says}` : `  ${state.padEnd(6)} ${path}: ${says}`,
    ),
    heading(`What if (now decides: ${decides(plan)})`),
    ...alternativesInWords(alternatives),
  ].join('\n');
}

function inputsInWords(configured: PlanInput, input: PlanInput): string[] {
  const rows = INPUTS.flatMap(({ option, unit, path, read }) => {
    const value = read(input);
    if (value === undefined) return [];
    const before = read(configured);
    const source = before === value ? path : `instead of ${inWords(before)} of ${path}`;
    return [[option, inWords(value), unit, source]];
  });
  return columns(rows, [1]);
}

function inWords(value: number | null | undefined): string {
  if (value === undefined) return 'the plan';
  return value === null ? 'none' : amount(value);
}

function alternativesInWords(alternatives: readonly WhatIf[]): string[] {
  const matters = (option: string) =>
    alternatives.some(
      (each) => each.option === option && each.changes.length + each.findings.length > 0,
    );
  const others = new Set(alternatives.map(({ option }) => option).filter((each) => !matters(each)));
  return [
    ...alternatives.filter(({ option }) => !others.has(option)).map(alternativeInWords),
    ...(others.size === 0
      ? []
      : [`  No number depends on half or twice ${[...others].join(', ')}`]),
  ];
}

function alternativeInWords({ option, to, changes, decides: what, findings }: WhatIf): string {
  const numbers = changes.map(({ name, from, to: then }) => `${name} ${from} → ${then}`);
  const found = findings.map(({ state, name }) => `no longer (${state}): ${name}`);
  const parts = [numbers.join(', ') || 'the same numbers', `decides: ${what}`, ...found];
  return `  ${`${option} ${amount(to)}`.padEnd(32)}${parts.join('; ')}`;
}

function heading(text: string): string {
  return `\n${text}\n`;
}

/** @param right the columns of numbers. */
function columns(rows: readonly (readonly string[])[], right: readonly number[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  return rows.map((row) => {
    const cells = row.map((cell, at) => {
      const width = at === row.length - 1 ? 0 : (widths[at] ?? 0);
      return right.includes(at) ? cell.padStart(width) : cell.padEnd(width);
    });
    return `  ${cells.join('  ')}`;
  });
}
