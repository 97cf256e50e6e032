/** The stage that is meant where none is named, and the one whose stack has no stage in its name. */
export const FIRST_STAGE = 'production';

export interface Stage<Config> {
  name: string;
  stackName: string;
  config: Config;
}

/** What a stack's name, `Glimpse-staging`, may hold. */
const NAME = /^[a-z][a-z0-9-]{0,39}$/;

/** @throws one sentence where there is no such stage. */
export function stageOf<Config>(stages: Record<string, Config>, name: unknown): Stage<Config> {
  const wrong = Object.keys(stages).find((each) => !NAME.test(each));
  if (wrong !== undefined) {
    throw new Error(
      `cdk/config.ts: stages: expected names of up to 40 lower-case letters, digits and hyphens, got ${JSON.stringify(wrong)}.`,
    );
  }
  const found = Object.entries(stages).find(([each]) => each === name);
  if (found === undefined) {
    throw new Error(
      `cdk/config.ts: stages: expected one of ${Object.keys(stages).join(', ')}, got ${JSON.stringify(name)}.`,
    );
  }
  const [stage, config] = found;
  return {
    name: stage,
    stackName: stage === FIRST_STAGE ? 'Glimpse' : `Glimpse-${stage}`,
    config,
  };
}
