import { listImports as readImports } from '../../shared/imports/create-import.ts';
import { readProgress } from '../../shared/imports/read-progress.ts';
import { decodeCursor, encodeCursor } from '../../shared/runtime/parse-request.ts';
import { type ImportSummary, summaryOf } from './import-view.ts';
import { listCursor } from './request.ts';
import type { Service } from './service.ts';

/** From the newest to the oldest: one Query, and those of each import that is not at its end. */
export async function listImports(
  service: Service,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): Promise<{ imports: ImportSummary[]; cursor?: string }> {
  const before = cursor === undefined ? undefined : decodeCursor(listCursor, cursor).before;
  const { items, next } = await readImports(service.table, { before, limit });
  const imports = await Promise.all(
    items.map(async (item) =>
      summaryOf(service, item, await readProgress(service.table, item, service.now())),
    ),
  );
  return { imports, ...(next === undefined ? {} : { cursor: encodeCursor({ before: next }) }) };
}
