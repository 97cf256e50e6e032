import type { RowView } from '../../../../web/imports/import-view.ts';
import type { Ask } from '../../../../web/imports/rows/plan-rows.ts';

/** Rows as the API would answer with them, and what was asked. */
export function rowsApi(written: (row: number) => RowView['state'] | undefined, total: number) {
  const asked: Ask[] = [];
  const ask =
    (state?: RowView['state'], mostRows = 1000) =>
    async ({ after, limit }: Ask): Promise<{ rows: RowView[]; next: number | undefined }> => {
      asked.push({ after, limit });
      const rows: RowView[] = [];
      for (let row = after + 1; row <= total; row += 1) {
        // As the API: it looks at so many rows at a time.
        if (rows.length === limit) return { rows, next: rows.at(-1)?.row };
        if (row > after + mostRows) return { rows, next: row - 1 };
        const is = written(row);
        if (is === undefined || (state !== undefined && is !== state)) continue;
        rows.push({ row, id: String(row), state: is, summary: `of ${row}`, reason: '' });
      }
      return { rows, next: undefined };
    };
  return { asked, ask };
}

/** Until all that was asked for is answered. */
export const settle = () => new Promise((done) => setTimeout(done));
