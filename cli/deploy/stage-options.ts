import { stages } from '../../cdk/config.ts';
import { type Config, parseConfig } from '../../cdk/config-schema.ts';
import { FIRST_STAGE, type Stage, stageOf } from '../../cdk/stage.ts';
import { UsageError } from '../target.ts';

/** The stage that a command is to work on. @throws UsageError where there is none of this name. */
export function openStage(name: string = FIRST_STAGE): Stage<Config> {
  try {
    const stage = stageOf(stages, name);
    return { ...stage, config: parseConfig(stage.config) };
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Where a stage's outputs are written down, for the commands that work on a deployed stack. */
export function outputsFileOf({ name }: { name: string }): string {
  return name === FIRST_STAGE ? 'cdk-outputs.json' : `cdk-outputs.${name}.json`;
}
