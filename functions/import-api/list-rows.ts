import { listRows as readRows } from '../../shared/imports/list-rows.ts';
import type { RowItem } from '../../shared/imports/row-item.ts';
import { findImport } from './find-import.ts';
import type { Service } from './service.ts';

export type RowView = Pick<RowItem, 'row' | 'id' | 'state' | 'summary' | 'reason'>;

/** Rows that are written, in order. The cursor is the row that the next page comes `after`. */
export async function listRows(
  service: Service,
  importId: string,
  asked: { after: number; limit: number; state?: 'done' | 'failed' },
): Promise<{ rows: RowView[]; cursor?: string }> {
  const item = await findImport(service, importId);
  const { rows, next } = await readRows(service.table, item, asked);
  return {
    rows: rows.map(({ row, id, state, summary, reason }) => ({
      row,
      id,
      state,
      ...(summary === undefined ? {} : { summary }),
      ...(reason === undefined ? {} : { reason }),
    })),
    ...(next === undefined ? {} : { cursor: String(next) }),
  };
}
