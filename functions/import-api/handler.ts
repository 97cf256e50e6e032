import { readEnv } from './env.ts';

export async function handler(): Promise<never> {
  readEnv();
  throw new Error('not here yet');
}
