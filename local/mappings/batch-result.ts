import { z } from 'zod';
import type { Invoked } from '../functions/pool.ts';

const partialFailures = z.looseObject({
  batchItemFailures: z.array(z.looseObject({ itemIdentifier: z.string().min(1) })).nullish(),
});

/**
 * The messages of a batch that are done and may be deleted, by AWS's rules:
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 *
 * Without partial failures, the whole batch shares the invocation's fate. With them, an empty answer
 * means that all succeeded, and an answer that cannot be understood (an unknown id, an empty one,
 * another shape) means that all failed.
 */
export function doneMessages(
  invoked: Invoked,
  messageIds: readonly string[],
  reportsItemFailures: boolean,
): readonly string[] {
  if (invoked.kind !== 'answer') return [];
  if (!reportsItemFailures) return messageIds;
  const answer: unknown = JSON.parse(invoked.payload);
  // Nothing at all, `""` and `{}` are all "no failures".
  if (answer === null || answer === '') return messageIds;
  const parsed = partialFailures.safeParse(answer);
  if (!parsed.success) return [];
  const failed = new Set(parsed.data.batchItemFailures?.map((item) => item.itemIdentifier));
  if ([...failed].some((id) => !messageIds.includes(id))) return [];
  return messageIds.filter((id) => !failed.has(id));
}
