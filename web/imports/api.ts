import { type Bearer, createApiClient, cursorOf, query } from '../shell/api-client.ts';
import type { Page } from '../shell/page.ts';
import { fields, list, number, text } from '../shell/read-json.ts';
import { readForm, type UploadForm } from '../shell/upload-form.ts';
import {
  type Estimate,
  type ImportInList,
  type ImportView,
  type Mode,
  type RowView,
  readEstimate,
  readImport,
  readImportInList,
  readRow,
} from './import-view.ts';

/** How a file is to be read; what is not named is found out. */
export interface Reading {
  readonly encoding?: string;
  readonly delimiter?: string;
  readonly idColumn?: string;
}

/** What may be changed until rows are sent, and again while the import is paused. */
export interface Wishes {
  readonly instructions?: string;
  readonly columns?: readonly string[];
  /** `null` takes the bound away. */
  readonly maxCostUsd?: number | null;
}

export interface NewImport extends Reading, Wishes {
  readonly name: string;
  readonly mode: Mode;
}

export type Action = 'pause' | 'resume' | 'cancel' | 'retry';

export interface ImportsApi {
  /** One's own, or those of all, and whether one may ask for these. */
  imports(asked: {
    cursor?: string | undefined;
    of?: 'everyone' | undefined;
  }): Promise<Page<ImportInList> & { operator: boolean }>;
  /** The browser keeps it with its ETag, and asks for what is new. */
  import(importId: string): Promise<ImportView>;
  /** Rows that are written, in order. The cursor is the last row that was looked at. */
  rows(
    importId: string,
    asked: { after: number; limit: number; state?: 'done' | 'failed' },
  ): Promise<{ rows: readonly RowView[]; next: number | undefined }>;
  /** It waits after its file is read, for somebody to look at the report. */
  create(wanted: NewImport): Promise<{ importId: string; form: UploadForm }>;
  act(importId: string, action: Action, wishes?: Wishes): Promise<ImportView>;
  estimate(importId: string, wishes: Wishes, signal: AbortSignal): Promise<Estimate>;
  /** Milliseconds after which to ask again, or where the file is. */
  exported(importId: string, only?: 'failed'): Promise<{ retryAfterMs: number } | { url: string }>;
}

export function createImportsApi(base: string, session?: Bearer): ImportsApi {
  const client = createApiClient(base, session);
  const { ask } = client;
  const at = (importId: string, rest = '') => `/imports/${encodeURIComponent(importId)}${rest}`;
  return {
    imports: ({ cursor, of }) =>
      ask(`/imports${query({ cursor, of })}`, (answer) => ({
        items: list(answer.imports).map(readImportInList),
        operator: answer.operator === true,
        cursor: cursorOf(answer),
      })),
    import: (importId) => ask(at(importId), readImport),
    rows: (importId, { after, limit, state }) =>
      ask(
        at(importId, `/rows${query({ after: String(after), limit: String(limit), state })}`),
        (answer) => {
          const next = Number(answer.cursor ?? Number.NaN);
          return {
            rows: list(answer.rows).map(readRow),
            next: Number.isInteger(next) ? next : undefined,
          };
        },
      ),
    create: (wanted) =>
      ask(
        '/imports',
        ({ importId, upload, expiresAt }) => ({
          importId: text(importId),
          form: readForm({ expiresAt, ...fields(upload) }),
        }),
        post({ ...wanted, hold: true }),
      ),
    act: (importId, action, wishes) =>
      ask(at(importId, `/${action}`), readImport, post(wishes ?? {})),
    estimate: (importId, wishes, signal) =>
      ask(at(importId, '/estimate'), readEstimate, { ...post(wishes), signal }),
    async exported(importId, only) {
      // A link would bring no token, and a redirect does not tell a script where it leads.
      return await ask(
        at(importId, `/export${query({ only, as: 'json' })}`),
        ({ url, retryAfterMs }) =>
          url === undefined ? { retryAfterMs: number(retryAfterMs) } : { url: text(url) },
      );
    },
  };
}

function post(body: object): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}
