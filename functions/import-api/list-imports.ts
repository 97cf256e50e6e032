import { ForbiddenError } from '../../shared/errors.ts';
import { listImports as readImports } from '../../shared/imports/create-import.ts';
import { readProgress } from '../../shared/imports/read-progress.ts';
import { decodeCursor, encodeCursor } from '../../shared/runtime/parse-request.ts';
import { type ImportSummary, summaryOf } from './import-view.ts';
import { listCursor } from './request.ts';
import type { Service } from './service.ts';

/** One's own, from the newest to the oldest: one Query, and those of each import that is not at its end. */
export async function listImports(
  service: Service,
  { cursor, limit, of }: { cursor?: string | undefined; limit: number; of?: 'everyone' },
): Promise<{ imports: ImportSummary[]; operator?: true; cursor?: string }> {
  const before = cursor === undefined ? undefined : decodeCursor(listCursor(of), cursor).before;
  const { owner, operator } = service.caller;
  if (of === 'everyone' && !operator) {
    throw new ForbiddenError("query.of: expected an operator's token, got one of somebody else");
  }
  const { items, next } = await readImports(service.table, {
    before,
    limit,
    ...(of === 'everyone' || owner === undefined ? {} : { owner }),
  });
  const imports = await Promise.all(
    items.map(async (item) =>
      summaryOf(service, item, await readProgress(service.table, item, service.now())),
    ),
  );
  return {
    imports,
    // Who has no owner's name is everyone: their own are all.
    ...(operator && owner !== undefined ? { operator } : {}),
    ...(next === undefined ? {} : { cursor: encodeCursor({ before: next, of }) }),
  };
}
