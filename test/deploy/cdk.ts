import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';

// The CDK command, as `npm run deploy` calls it.

const root = resolve(import.meta.dirname, '../..');
const command = join(root, 'node_modules/aws-cdk/bin/cdk');

/** An account and a region that moto has, and where it is. */
export function awsEnvironment(endpoint: string): Record<string, string> {
  return {
    // moto finds the template by a bucket's name in the host, which CDK puts there for a name alone.
    AWS_ENDPOINT_URL: endpoint.replace('127.0.0.1', 'localhost'),
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
  };
}

/** @throws all that it wrote, where it fails. */
export async function cdk(
  words: readonly string[],
  { cwd = root, environment = {} }: { cwd?: string; environment?: Record<string, string> } = {},
): Promise<string> {
  const child = spawn(process.execPath, [command, ...words], {
    cwd,
    env: { ...process.env, ...environment, CI: 'true' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      written += text;
    });
  }
  const kill = () => child.kill();
  process.once('exit', kill);
  const [code] = await once(child, 'close');
  process.off('exit', kill);
  if (code !== 0) throw new Error(`cdk ${words.join(' ')} ended with ${code}:\n${written}`);
  return written;
}

/** Synthesises the stack as it is for AWS, for one processor. @param folder where it is written. */
export async function synthesise(folder: string, architecture: string): Promise<void> {
  await cdk(['synth', '--quiet', '--output', folder, '--context', `architecture=${architecture}`]);
}

/** Deploys what was synthesised. */
export async function deploy(endpoint: string, folder: string): Promise<void> {
  // moto has no change set of a stack that is there, and forgets what its parameters were by default.
  const asMotoCan = ['--method', 'direct', '--no-previous-parameters'];
  const words = ['deploy', '--app', folder, '--require-approval', 'never', ...asMotoCan, 'Glimpse'];
  await cdk(words, {
    environment: awsEnvironment(endpoint),
  });
}

/** Deletes the stack, as `npx cdk destroy` does. */
export async function destroy(endpoint: string, folder: string): Promise<void> {
  await cdk(['destroy', '--app', folder, '--force', 'Glimpse'], {
    environment: awsEnvironment(endpoint),
  });
}
