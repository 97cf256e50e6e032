import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { deploy, synthesise } from './cdk.ts';
import { findMoto, startMoto } from './moto-server.ts';

// A global setup: the stack is synthesised for this machine's processor and for the other one, and
// the first of them is deployed. Each step says how long it took.

declare module 'vitest' {
  interface ProvidedContext {
    endpoint: string;
    python: string;
    /** What is deployed at first, and what it is updated to. */
    here: Synthesised;
    other: Synthesised;
    /** The folder of another stage's synthesis. */
    staging: string;
  }
}

export interface Synthesised {
  folder: string;
  architecture: 'arm64' | 'x86_64';
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const moto = findMoto(process.env);
  if (moto === undefined) {
    console.error(
      "test:deploy needs an AWS on this machine, and there is no moto_server on the PATH: pip install 'moto[server]'",
    );
    process.exit(1);
  }
  const work = await mkdtemp(join(tmpdir(), 'glimpse-deploy-'));
  const server = await timed('moto', startMoto(moto.python));
  const { endpoint } = server;
  const end = async () => {
    server.stop();
    await rm(work, { recursive: true, force: true });
  };
  try {
    const isArm = process.arch === 'arm64';
    const here = { folder: join(work, 'here'), architecture: isArm ? 'arm64' : 'x86_64' } as const;
    const other = {
      folder: join(work, 'other'),
      architecture: isArm ? 'x86_64' : 'arm64',
    } as const;
    const staging = join(work, 'staging');
    const timedSynthesis = async (folder: string, ...context: string[]) => {
      await timed(`synthesis for ${context.join(' ')}`, synthesise(folder, ...context));
    };
    await Promise.all([
      timedSynthesis(here.folder, `architecture=${here.architecture}`),
      timedSynthesis(other.folder, `architecture=${other.architecture}`),
      timedSynthesis(staging, `architecture=${here.architecture}`, 'stage=staging'),
    ]);
    await timed('bootstrap and deploy', deploy(endpoint, here.folder, '--bootstrap'));
    project.provide('staging', staging);
    project.provide('endpoint', endpoint);
    project.provide('python', moto.python);
    project.provide('here', here);
    project.provide('other', other);
  } catch (error) {
    await end();
    throw error;
  }
  return end;
}

async function timed<T>(step: string, work: Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work;
  console.log(`${step}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return result;
}
