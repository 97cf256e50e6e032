import { retryImport } from '../../shared/imports/change-state.ts';
import type { ImportItem } from '../../shared/imports/import-item.ts';
import { readProgress } from '../../shared/imports/read-progress.ts';
import { findImport, noSuchImport } from './find-import.ts';
import type { ImportView } from './import-view.ts';
import { notPossible } from './not-possible.ts';
import { sendJob } from './send-job.ts';
import type { Service } from './service.ts';
import { showChanged } from './show-import.ts';

/** Pages that may become full meanwhile: a round is begun from the pages as they were read. */
const ATTEMPTS = 6;

const MAY_HAVE_FAILURES = new Set<ImportItem['state']>([
  'completed-with-failures',
  'running',
  'paused',
]);

/** Begins a round for the rows that failed; one that is paused stays so. */
export async function retryFailed(service: Service, importId: string): Promise<ImportView> {
  let item = await findImport(service, importId);
  const { round } = item;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // Somebody else has begun the round that was asked for.
    if (item.round > round) return await goOn(service, item);
    if (!MAY_HAVE_FAILURES.has(item.state)) throw notPossible('retry', item.state);
    const { done, failed } = await readProgress(service.table, item, service.now());
    if (failed === 0) {
      if (!isBeginning(item)) throw notPossible('retry', item.state);
      return await goOn(service, item);
    }
    const retried = await retryImport(service.table, item, { now: service.now(), done });
    if (retried.item === undefined) throw noSuchImport(importId);
    if (retried.changed) return await goOn(service, retried.item);
    ({ item } = retried);
  }
  throw new Error(`import ${importId} was changed ${ATTEMPTS} times while it was to be retried`);
}

/** A round is begun whose chunks are not all sent: its job may have been lost. */
function isBeginning({ state, round, sendingSince }: ImportItem): boolean {
  return state === 'running' && round > 0 && sendingSince !== undefined;
}

async function goOn(service: Service, item: ImportItem): Promise<ImportView> {
  const { importId, state } = item;
  if (state === 'running') await sendJob(service, { kind: 'send', importId });
  return await showChanged(service, item);
}
