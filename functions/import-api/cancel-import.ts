import { cancelImport as cancel } from '../../shared/imports/change-state.ts';
import { noSuchImport, requireOwn } from './find-import.ts';
import type { ImportView } from './import-view.ts';
import { notPossible } from './not-possible.ts';
import type { Service } from './service.ts';
import { showChanged } from './show-import.ts';

/** For good: rows that are written stay, and no other is begun. */
export async function cancelImport(service: Service, importId: string): Promise<ImportView> {
  await requireOwn(service, importId);
  const { changed, item } = await cancel(service.table, importId, service.now());
  if (item === undefined) throw noSuchImport(importId);
  if (!changed && item.state !== 'cancelled') throw notPossible('cancel', item.state);
  return await showChanged(service, item);
}
