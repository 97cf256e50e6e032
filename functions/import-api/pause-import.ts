import { pauseImport as pause } from '../../shared/imports/change-state.ts';
import { noSuchImport, requireOwn } from './find-import.ts';
import type { ImportView } from './import-view.ts';
import { notPossible } from './not-possible.ts';
import type { Service } from './service.ts';
import { showChanged } from './show-import.ts';

/** It may begin to run between the two writes that pausing is. */
const ATTEMPTS = 3;

/** What is under way is written still; nothing further is begun. */
export async function pauseImport(service: Service, importId: string): Promise<ImportView> {
  await requireOwn(service, importId);
  for (let attempt = 1; ; attempt++) {
    const { changed, item } = await pause(service.table, importId, service.now());
    if (item === undefined) throw noSuchImport(importId);
    if (changed) return await showChanged(service, item);
    if (item.state !== 'running' || attempt === ATTEMPTS) throw notPossible('pause', item.state);
  }
}
