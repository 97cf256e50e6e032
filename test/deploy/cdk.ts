import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';

// The commands, on an AWS of this machine.

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
async function run(words: readonly string[], environment: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, words, {
    cwd: root,
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
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}:\n${written}`);
  return written;
}

/** Nobody's issuer: what runs what is deployed has one of its own in this place. */
export const ISSUED = {
  issuer: 'https://issuer.example/pool',
  audience: 'glimpse',
  clientId: 'glimpse-pages',
};

/** Synthesises a stack as it is for AWS. @param folder where it is written. */
export async function synthesise(folder: string, ...context: string[]): Promise<void> {
  const issued = Object.entries(ISSUED).map(([name, value]) => `${name}=${value}`);
  const words = [...issued, ...context].flatMap((each) => ['--context', each]);
  await run([command, 'synth', '--quiet', '--output', folder, ...words], {});
}

/** Deploys what was synthesised, as its users do. @param words further options. */
export async function deploy(endpoint: string, folder: string, ...words: string[]): Promise<void> {
  const outputs = join(folder, 'outputs.json');
  // moto has no change set of a stack that is there.
  const options = ['--yes', '--direct', '--app', folder, '--outputs', outputs];
  await run(['cli/deploy.ts', ...options, ...words], awsEnvironment(endpoint));
}

/** Publishes the pages of what was deployed, as its users do. */
export async function publishPages(endpoint: string, folder: string): Promise<string> {
  const words = ['cli/publish-pages.ts', '--outputs', join(folder, 'outputs.json')];
  return await run(words, awsEnvironment(endpoint));
}

/** Deletes a stack, as its users do. */
export async function destroy(endpoint: string, ...words: string[]): Promise<string> {
  return await run(['cli/destroy.ts', '--yes', ...words], awsEnvironment(endpoint));
}
