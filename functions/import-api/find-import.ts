import { NotFoundError } from '../../shared/errors.ts';
import type { ImportItem } from '../../shared/imports/import-item.ts';
import { readImport } from '../../shared/imports/imports-table.ts';
import type { Layout } from '../../shared/imports/layout.ts';
import type { Service } from './service.ts';

export const noSuchImport = (importId: string) =>
  new NotFoundError(`there is no import ${JSON.stringify(importId)}`);

/** One GetItem. @throws NotFoundError */
export async function findImport({ table }: Service, importId: string): Promise<ImportItem> {
  const item = await readImport(table, importId);
  if (item === undefined) throw noSuchImport(importId);
  return item;
}

/** Its file has been read, and taken. */
export type ReadImport = ImportItem & { layout: Layout; header: string[] };

export function isRead(item: ImportItem): item is ReadImport {
  return item.layout !== undefined && item.header !== undefined;
}
