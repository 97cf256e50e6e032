import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import { z } from 'zod';
import { signedIn } from '../callers.ts';
import { type Target, until } from './target.ts';

// Scenarios without a target in them: whatever runs Glimpse must pass them.

export const createdSchema = z.object({
  importId: z.string(),
  upload: z.object({ url: z.string(), fields: z.record(z.string(), z.string()) }),
});
const importSchema = z.object({
  state: z.string(),
  rows: z.object({ total: z.number(), done: z.number(), failed: z.number() }).optional(),
});
const rowsSchema = z.object({
  rows: z.array(
    z.object({ row: z.number(), id: z.string(), state: z.string(), summary: z.string() }),
  ),
  cursor: z.string().optional(),
});

export async function json(answer: Response): Promise<unknown> {
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${text}`);
  return JSON.parse(text);
}

export async function createImport(
  target: Pick<Target, 'api' | 'token'>,
  asked: object,
): Promise<z.infer<typeof createdSchema>> {
  const created = await fetch(`${target.api}/imports`, {
    method: 'POST',
    headers: signedIn(target),
    body: JSON.stringify(asked),
  });
  return createdSchema.parse(await json(created));
}

/** As a page does it: the form that the API signs, with the file at its end. */
export async function upload(
  { url, fields }: z.infer<typeof createdSchema>['upload'],
  text: string,
): Promise<void> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([text], { type: 'text/csv' }), 'goods.csv');
  const answer = await fetch(url, { method: 'POST', body: form });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
}

async function rowsOf(target: Target, importId: string) {
  const rows: z.infer<typeof rowsSchema>['rows'] = [];
  let after = '0';
  for (;;) {
    const asked = await fetch(`${target.api}/imports/${importId}/rows?after=${after}&limit=100`, {
      headers: signedIn(target),
    });
    const page = rowsSchema.parse(await json(asked));
    rows.push(...page.rows);
    if (page.cursor === undefined) return rows;
    after = page.cursor;
  }
}

export async function aFileBecomesSummaries(target: Target): Promise<void> {
  const ids = Array.from({ length: 120 }, (_, index) => `GL-${1000 + index}`);
  const lines = ids.map((id) => `${id};"Mug; of enamelled steel";It survives the campfire.`);
  const text = ['id;name;description', ...lines].join('\r\n');

  const headers = signedIn(target);
  const asked = { name: 'goods.csv', mode: 'interactive', idColumn: 'id' };
  const { importId, upload: form } = await createImport(target, asked);
  await upload(form, text);
  const look = async () =>
    importSchema.parse(await json(await fetch(`${target.api}/imports/${importId}`, { headers })));
  const found = await until(look, ({ state }) => /^(completed|failed)/.test(state));
  expect(found).toEqual({ state: 'completed', rows: { total: 120, done: 120, failed: 0 } });

  const rows = await rowsOf(target, importId);
  expect(rows.map(({ row, id }) => [row, id])).toEqual(ids.map((id, index) => [index + 1, id]));
  for (const { state, summary } of rows) {
    expect(state).toBe('done');
    expect(summary).toMatch(/\w{3}/);
  }

  const exported = await until(
    () => fetch(`${target.api}/imports/${importId}/export`, { headers }),
    ({ ok, headers }) => ok && headers.get('content-type')?.startsWith('text/csv') === true,
  );
  const records: string[][] = parse(await exported.text(), { bom: true });
  expect(records).toHaveLength(121);
  expect(records[1]).toEqual(
    expect.arrayContaining(['GL-1000', 'Mug; of enamelled steel', 'done']),
  );
}

export async function everythingIsLookedAt(target: Target): Promise<void> {
  const headers = signedIn(target);
  for (const path of ['/fleet', '/imports'])
    await json(await fetch(target.api + path, { headers }));
  const { importId } = await createImport(target, { name: 'later.csv', mode: 'bulk' });
  const paused = `${target.api}/imports/${importId}/pause`;
  await json(await fetch(paused, { method: 'POST', headers, body: '{}' }));
}
