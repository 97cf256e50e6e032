import { randomBytes } from 'node:crypto';
import type { Keys } from '../functions/environment.ts';
import type { StackPlan } from '../template/stack.ts';
import type { Caller } from './authority.ts';

/** Whose access keys are whose. */
export interface Identities {
  readonly keys: readonly Keys[];
  /** @param functionName physical */
  keysOf(functionName: string): Keys;
  /** Who has an access key of `keys`. */
  callerOf(accessKeyId: string): Caller;
}

/** Each function's own keys, of its role, as Lambda would hand them out: temporary, and new at each start. */
export function createIdentities(plan: StackPlan, developer: Keys): Identities {
  const functions = plan.functions.map(({ name, roleArn }) => ({
    keys: temporaryKeys(),
    caller: { kind: 'function', functionName: name, roleArn } satisfies Caller,
  }));
  return {
    keys: [developer, ...functions.map(({ keys }) => keys)],
    keysOf(functionName) {
      const found = functions.find(({ caller }) => caller.functionName === functionName);
      if (found === undefined) throw new Error(`There is no function ${functionName}.`);
      return found.keys;
    },
    callerOf(accessKeyId) {
      if (accessKeyId === developer.accessKeyId) return { kind: 'developer' };
      const found = functions.find(({ keys }) => keys.accessKeyId === accessKeyId);
      if (found === undefined) throw new Error(`Nobody has the access key ${accessKeyId}.`);
      return found.caller;
    },
  };
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** In the form of AWS's, whose first letters tell temporary ones from a user's. */
function temporaryKeys(): Keys {
  const letters = [...randomBytes(16)].map((byte) => LETTERS.charAt(byte % LETTERS.length));
  return {
    accessKeyId: `ASIA${letters.join('')}`,
    secretAccessKey: randomBytes(30).toString('base64'),
    sessionToken: randomBytes(120).toString('base64'),
  };
}
