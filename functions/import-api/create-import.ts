import { take } from '../../shared/access/bounds.ts';
import { InvalidRequestError, TooManyRequestsError } from '../../shared/errors.ts';
import { createImport as writeImport } from '../../shared/imports/create-import.ts';
import type { Delimiter } from '../../shared/imports/csv/delimiter.ts';
import type { Encoding } from '../../shared/imports/csv/encoding.ts';
import { createImportId } from '../../shared/imports/import-id.ts';
import type { Mode } from '../../shared/imports/import-item.ts';
import { sourceKey } from '../../shared/imports/import-objects.ts';
import { boundKey } from '../../shared/imports/imports-table.ts';
import type { Asked } from './estimate-costs.ts';
import type { Service } from './service.ts';

export interface NewImport extends Asked {
  name: string;
  mode: Mode;
  idColumn?: string;
  encoding?: Encoding;
  delimiter?: Delimiter;
  maxCostUsd?: number;
  deadline?: string;
  hold: boolean;
}

export interface CreatedImport {
  importId: string;
  upload: { url: string; fields: Readonly<Record<string, string>> };
  expiresAt: string;
}

const DAY_SECONDS = 86_400;

/**
 * An import that waits for its file, and the form that uploads it. S3 tells intake of the upload.
 *
 * @throws InvalidRequestError for a deadline that is over
 */
export async function createImport(
  { table, caller, bounds, limits, prompt, signing, now }: Service,
  { instructions, columns = [], ...given }: NewImport,
): Promise<CreatedImport> {
  const createdAt = now();
  const { deadline } = given;
  if (deadline !== undefined && Date.parse(deadline) <= createdAt) {
    throw new InvalidRequestError(`body.deadline: expected a time to come, got ${deadline}`);
  }
  const ledger = { ...table, keyOf: boundKey };
  const taking = { what: 'imports', wanted: 1, most: bounds.imports, now: createdAt } as const;
  const { granted, retryAfterMs } = await take(ledger, caller.id, taking);
  if (granted === 0) {
    throw new TooManyRequestsError(
      `expected at most ${bounds.imports} new imports a minute, got more`,
      retryAfterMs,
    );
  }
  const importId = createImportId(createdAt);
  const form = signing.upload(
    await signing.credentials(),
    {
      key: sourceKey(importId),
      contentType: 'text/csv',
      bytes: { least: 0, most: limits.maxBytes },
    },
    new Date(createdAt),
  );
  await writeImport(table, {
    ...given,
    importId,
    ...(caller.owner === undefined ? {} : { owner: caller.owner }),
    state: 'awaiting-upload',
    round: 0,
    instructions: instructions ?? prompt.instructions,
    columns,
    reads: 0,
    pages: {},
    createdAt,
    uploadBy: form.expiresAt.getTime(),
    updatedAt: createdAt,
    ttl: Math.ceil(createdAt / 1000) + limits.importDays * DAY_SECONDS,
  });
  return {
    importId,
    upload: { url: form.url, fields: form.fields },
    expiresAt: form.expiresAt.toISOString(),
  };
}
