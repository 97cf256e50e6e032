import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const command = join(root, 'node_modules/aws-cdk/bin/cdk');

/** Runs the CDK command, which asks and tells by this terminal. @throws where it fails; it has said why. */
export async function runCdk(words: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [command, ...words], { cwd: root, stdio: 'inherit' });
  // A terminal's Ctrl-C reaches the child too, which says what becomes of the deployment.
  let isInterrupted = false;
  const wait = () => {
    isInterrupted = true;
  };
  process.on('SIGINT', wait);
  const kill = () => child.kill();
  process.once('exit', kill);
  const [code, signal] = await once(child, 'exit');
  process.off('SIGINT', wait);
  process.off('exit', kill);
  if (code === 0) return;
  let more = '';
  if (isInterrupted && words[0] === 'synth') {
    more = ' It was interrupted before anything was deployed.';
  } else if (isInterrupted) {
    more =
      ' It was interrupted, and CloudFormation goes on with what it has begun: deploy again to see how that ended.';
  }
  throw new Error(`cdk ${words[0]} ended with ${signal ?? code}.${more}`);
}
