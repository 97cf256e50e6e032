import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { hashInputs } from './inputs.ts';

/** Everything that goes into the template and the bundles. */
const INPUTS = ['cdk', 'functions', 'shared', 'cdk.json', 'package-lock.json', 'tsconfig.json'];

/**
 * Runs `cdk/app.ts` for the local cloud and answers the folder that it wrote, unless the last run had the same inputs. The folder is below
 * the project's, so that a bundle finds the sharp that is installed here.
 */
export async function synthesise(root: string): Promise<string> {
  const cdkOut = join(root, '.glimpse', 'cdk.out');
  const inputsFile = join(cdkOut, '.inputs');
  const inputs = hashInputs(root, INPUTS);
  if (existsSync(inputsFile) && readFileSync(inputsFile, 'utf8') === inputs) {
    return cdkOut;
  }
  rmSync(inputsFile, { force: true });
  const child = spawn(process.execPath, ['cdk/app.ts'], {
    cwd: root,
    env: {
      ...process.env,
      CDK_OUTDIR: cdkOut,
      CDK_CONTEXT_JSON: '{"local":"true"}',
      // CloudFormation's schema is checked by every other synthesis; here it is a third of the time.
      CDK_VALIDATION: 'false',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // An interrupted start must not leave it running.
  const kill = () => child.kill();
  process.once('exit', kill);
  const [complaint, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  process.off('exit', kill);
  if (code !== 0) throw new Error(sentenceOf(complaint));
  // Written last: an interrupted run is not taken for a finished one.
  writeFileSync(inputsFile, inputs);
  return cdkOut;
}

/** The configuration's mistakes come as one sentence; anything else is for whoever wrote it. */
function sentenceOf(complaint: string): string {
  const sentence = /^\w*Error: (cdk\/config\.ts: .*)$/m.exec(complaint)?.[1];
  return sentence ?? `The stack could not be synthesised:\n${complaint.trim()}`;
}
