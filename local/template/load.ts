import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAssets } from './assets.ts';
import type { Origins } from './names.ts';
import { readTemplate } from './read.ts';
import { planStack, type StackPlan } from './stack.ts';

/** Reads what `cdk synth` wrote. @param origins where clients will find the engines. */
export async function loadStack(cdkOut: string, origins: Origins): Promise<StackPlan> {
  const stackName = stackIn(cdkOut);
  const text = readFileSync(join(cdkOut, `${stackName}.template.json`), 'utf8');
  const template = readTemplate(JSON.parse(text), stackName, origins);
  return planStack(template, await readAssets(cdkOut, stackName));
}

/** The one stack that was synthesised there. */
function stackIn(cdkOut: string): string {
  const end = '.template.json';
  const [name, another] = readdirSync(cdkOut).filter((file) => file.endsWith(end));
  if (name === undefined || another !== undefined) {
    throw new Error(`Expected one *${end} in ${cdkOut}.`);
  }
  return name.slice(0, -end.length);
}
