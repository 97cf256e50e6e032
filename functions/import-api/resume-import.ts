import { isDeepStrictEqual } from 'node:util';
import { OverBudgetError } from '../../shared/errors.ts';
import { resumeImport as resume } from '../../shared/imports/change-state.ts';
import { type ImportItem, isOver, type Page } from '../../shared/imports/import-item.ts';
import { type Report, readReport } from '../../shared/imports/import-report.ts';
import { readProgress } from '../../shared/imports/read-progress.ts';
import { atMostUsd, costUsd, usd } from '../../shared/summaries/estimate.ts';
import { type Asked, checkColumns, estimateOf } from './estimate-costs.ts';
import { findImport, noSuchImport } from './find-import.ts';
import type { ImportView } from './import-view.ts';
import { notPossible } from './not-possible.ts';
import { sendJob } from './send-job.ts';
import type { Service } from './service.ts';
import { showChanged } from './show-import.ts';

export interface ResumeWishes extends Asked {
  /** `null` takes the bound away. */
  maxCostUsd?: number | null;
}

/** A pause, a resume and the end of reading may come in between. */
const ATTEMPTS = 4;

/**
 * Lets an import run, or begin by itself once it has been read.
 *
 * State first, then the job: whoever dies in between leaves a running import with `sendingSince`,
 * which the reaper finds, and pressing again sends the job.
 */
export async function resumeImport(
  service: Service,
  importId: string,
  wishes: ResumeWishes,
): Promise<ImportView> {
  let item = await findImport(service, importId);
  for (let attempt = 0; attempt < ATTEMPTS && !isOver(item.state); attempt++) {
    if (item.state === 'running') {
      // Somebody else has resumed it, or the same person twice.
      if (!isAsWished(item, wishes)) break;
      return await goOn(service, item);
    }
    // What the reading was begun with is what the file is held against.
    if (item.state === 'reading' && Object.keys(wishes).length > 0) break;
    const settled = await check(service, item, wishes);
    const resumed = await resume(service.table, item, { now: service.now(), settled, ...wishes });
    if (resumed.item === undefined) throw noSuchImport(importId);
    if (resumed.changed) return await goOn(service, resumed.item);
    item = resumed.item;
  }
  throw notPossible('resume', item.state);
}

async function goOn(service: Service, item: ImportItem): Promise<ImportView> {
  const { importId, state } = item;
  if (state === 'running') await sendJob(service, { kind: 'send', importId });
  return await showChanged(service, item);
}

function isAsWished(item: ImportItem, wishes: ResumeWishes): boolean {
  return isDeepStrictEqual(asWished(item, wishes), item);
}

function asWished(item: ImportItem, { maxCostUsd, ...wishes }: ResumeWishes): ImportItem {
  const { maxCostUsd: before, ...others } = item;
  const bound = maxCostUsd === undefined ? before : (maxCostUsd ?? undefined);
  return { ...others, ...wishes, ...(bound === undefined ? {} : { maxCostUsd: bound }) };
}

/** @returns how many rows are done or have failed */
async function check(service: Service, item: ImportItem, wishes: ResumeWishes): Promise<number> {
  checkColumns(item, wishes.columns);
  const wished = asWished(item, wishes);
  const budgeted = item.layout !== undefined && wished.maxCostUsd !== undefined;
  const [progress, report] = await Promise.all([
    readProgress(service.table, item, service.now()),
    budgeted ? readReport(service.table, item.importId) : undefined,
  ]);
  checkBudget(service, wished, progress, report);
  return progress.done + progress.failed;
}

function checkBudget(
  service: Service,
  { instructions, columns, maxCostUsd }: ImportItem,
  progress: Page,
  report: Report | undefined,
): void {
  if (maxCostUsd === undefined || report === undefined) return;
  const estimate = estimateOf(service, { instructions, columns }, report);
  if (estimate.costUsd > maxCostUsd) {
    throw new OverBudgetError(
      `resume: the summaries may cost up to ${atMostUsd(estimate.costUsd)}, and its bound is ${usd(maxCostUsd)}: raise the bound or choose fewer columns`,
    );
  }
  const spent = costUsd(progress, service.model.prices);
  if (spent >= maxCostUsd) {
    throw new OverBudgetError(
      `resume: the import has cost ${usd(spent)}, and its bound is ${usd(maxCostUsd)}: raise the bound`,
    );
  }
}
