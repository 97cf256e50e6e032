import { requireIssuer, withContext } from '../../cdk/authentication-schema.ts';
import { stages } from '../../cdk/config.ts';
import { type Config, parseConfig } from '../../cdk/config-schema.ts';
import { FIRST_STAGE, type Stage, stageOf } from '../../cdk/stage.ts';
import { UsageError } from '../usage-error.ts';

type Context = Readonly<Record<string, string | undefined>>;

/**
 * The stage that a command is to work on.
 *
 * @param context what is for this deployment alone.
 * @throws UsageError where there is none of this name, or its configuration is not as it must be.
 */
export function openStage(name: string = FIRST_STAGE, context: Context = {}): Stage<Config> {
  if (!Object.hasOwn(stages, name)) {
    const known = Object.keys(stages).join(', ');
    throw new UsageError(`--stage: expected one of ${known}, got "${name}".`);
  }
  try {
    const stage = stageOf(stages, name);
    const authentication = withContext(stage.config.authentication, (each) => context[each]);
    const architecture: unknown = context.architecture ?? stage.config.architecture;
    return { ...stage, config: parseConfig({ ...stage.config, architecture, authentication }) };
  } catch (cause) {
    const sentence = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(blamed(sentence, context), { cause });
  }
}

/** Where the configuration has what options are given in the place of. */
const OPTIONS = [
  { key: 'architecture', option: '--architecture', path: 'architecture' },
  { key: 'issuer', option: '--issuer', path: 'authentication.issuer' },
  { key: 'audience', option: '--audience', path: 'authentication.audience' },
  { key: 'clientId', option: '--client-id', path: 'authentication.pages.clientId' },
] as const;

/** The sentence names the option, where the value that is wrong came by it and is not in the file. */
function blamed(sentence: string, context: Context): string {
  for (const { key, option, path } of OPTIONS) {
    const start = `cdk/config.ts: ${path}: `;
    if (context[key] !== undefined && sentence.startsWith(start)) {
      return `${option}: ${sentence.slice(start.length)}`;
    }
  }
  return sentence;
}

/** @throws UsageError where it is not said who may call the API. */
export function requireSignIn({ config }: Stage<Config>): void {
  try {
    requireIssuer(config);
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Where a stage's outputs are written down, for the commands that work on a deployed stack. */
export function outputsFileOf({ name }: { name: string }): string {
  return name === FIRST_STAGE ? 'cdk-outputs.json' : `cdk-outputs.${name}.json`;
}
