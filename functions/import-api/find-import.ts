import { mayHandle } from '../../shared/access/caller.ts';
import { NotFoundError } from '../../shared/errors.ts';
import type { ImportItem } from '../../shared/imports/import-item.ts';
import { readImport } from '../../shared/imports/imports-table.ts';
import type { Layout } from '../../shared/imports/layout.ts';
import type { Service } from './service.ts';

export const noSuchImport = (importId: string) =>
  new NotFoundError(`there is no import ${JSON.stringify(importId)}`);

/** One GetItem. @throws NotFoundError, for another's as for none: an answer tells nothing of what there is. */
export async function findImport(
  { table, caller }: Pick<Service, 'table' | 'caller'>,
  importId: string,
): Promise<ImportItem> {
  const item = await readImport(table, importId);
  if (item === undefined || !mayHandle(caller, item)) throw noSuchImport(importId);
  return item;
}

/** For verbs that read the import by changing it. Whom it belongs to never changes. @throws NotFoundError */
export async function requireOwn(
  service: Pick<Service, 'table' | 'caller'>,
  importId: string,
): Promise<void> {
  if (!service.caller.operator) await findImport(service, importId);
}

/** Its file has been read, and taken. */
export type ReadImport = ImportItem & { layout: Layout; header: string[] };

export function isRead(item: ImportItem): item is ReadImport {
  return item.layout !== undefined && item.header !== undefined;
}
