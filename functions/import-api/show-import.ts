import type { ImportItem } from '../../shared/imports/import-item.ts';
import { type Report, readRefusedReport, readReport } from '../../shared/imports/import-report.ts';
import { readProgress } from '../../shared/imports/read-progress.ts';
import { findImport, isRead } from './find-import.ts';
import { etagOf, type ImportView, viewOf } from './import-view.ts';
import { isKept } from './request.ts';
import type { Service } from './service.ts';

export type Shown =
  | { kind: 'kept'; etag: string }
  | { kind: 'fresh'; etag: string; view: ImportView };

/**
 * One import. Pages poll it: whoever has what there is to know costs the item and the page or two
 * that are worked on, and no report.
 */
export async function showImport(
  service: Service,
  importId: string,
  ifNoneMatch?: string,
): Promise<Shown> {
  const item = await findImport(service, importId);
  const progress = await readProgress(service.table, item, service.now());
  const etag = etagOf(service, item, progress);
  if (isKept(etag, ifNoneMatch)) return { kind: 'kept', etag };
  const report = await reportOf(service, item);
  return { kind: 'fresh', etag, view: viewOf(service, item, progress, report) };
}

/** The answer of a verb that has changed it. */
export async function showChanged(service: Service, item: ImportItem): Promise<ImportView> {
  const [progress, report] = await Promise.all([
    readProgress(service.table, item, service.now()),
    reportOf(service, item),
  ]);
  return viewOf(service, item, progress, report);
}

/** Of a file that was refused, as far as it was read. */
async function reportOf({ table }: Service, item: ImportItem): Promise<Report | undefined> {
  const { importId, state, etag } = item;
  if (isRead(item)) return await readReport(table, importId);
  if (state !== 'failed' || etag === undefined) return undefined;
  return await readRefusedReport(table, { importId, etag });
}
