import { openStacks } from '../account.ts';
import type { Target } from '../target.ts';
import { UsageError } from '../usage-error.ts';
import { findStack } from './delete-stack.ts';

/**
 * What a stack keeps outlives it, its pages' bucket among them: that there is one says nothing of the stack.
 *
 * @throws UsageError where there is none any more. One that may not be looked at may well be there.
 */
export async function requireStack({ source }: Pick<Target, 'source'>): Promise<void> {
  if (source?.stack === undefined) return;
  const { stack, file } = source;
  let found: unknown;
  try {
    found = await findStack(openStacks(), stack);
  } catch {
    return;
  }
  if (found !== undefined) return;
  throw new UsageError(
    `There is no stack ${stack}, which ${file} is of: it may be deleted, or be in another account or region (AWS_PROFILE, AWS_REGION).`,
  );
}
