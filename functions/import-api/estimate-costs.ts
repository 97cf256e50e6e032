import { InvalidRequestError } from '../../shared/errors.ts';
import { quoted } from '../../shared/imports/csv/columns.ts';
import type { ImportItem } from '../../shared/imports/import-item.ts';
import { type Report, readReport } from '../../shared/imports/import-report.ts';
import { type Estimate, estimateImport } from '../../shared/summaries/estimate-import.ts';
import { findImport, isRead } from './find-import.ts';
import { notPossible } from './not-possible.ts';
import type { Service } from './service.ts';

/** What may be asked of the model. */
export interface Asked {
  instructions?: string;
  columns?: string[];
}

/** What an import's summaries may cost, or would with other instructions or columns. */
export async function estimateCosts(
  service: Service,
  importId: string,
  asked: Asked,
): Promise<Estimate> {
  const item = await findImport(service, importId);
  if (!isRead(item)) throw notPossible('estimate', item.state);
  checkColumns(item, asked.columns);
  const report = await readReport(service.table, importId);
  if (report === undefined) throw new Error(`import ${importId} was read and has no report`);
  return estimateOf(service, { ...item, ...asked }, report);
}

export function estimateOf(
  { prompt, model }: Pick<Service, 'prompt' | 'model'>,
  { columns, instructions }: Pick<ImportItem, 'columns' | 'instructions'>,
  report: Report,
): Estimate {
  const seen = report.columns.filter(({ name }) => columns.length === 0 || columns.includes(name));
  const limits = {
    inputCharacters: prompt.maxInputCharacters,
    outputTokens: prompt.maxOutputTokens,
  };
  return estimateImport(report.rows, seen, instructions, limits, model.prices);
}

/** How many of the file's columns an error names. */
const NAMED = 20;

/** @throws InvalidRequestError naming the columns that there are, once they are known */
export function checkColumns(
  { header }: Pick<ImportItem, 'header'>,
  columns: readonly string[] = [],
): void {
  const unknown = columns.find((name) => header !== undefined && !header.includes(name));
  if (header === undefined || unknown === undefined) return;
  const more = header.length > NAMED ? ' …' : '';
  const known = `${header.slice(0, NAMED).map(quoted).join(', ')}${more}`;
  throw new InvalidRequestError(`body.columns: expected some of ${known}, got ${quoted(unknown)}`);
}
