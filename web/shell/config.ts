import { fields, list, number, text } from './read-json.ts';

/** What `/config.json` says: where this installation of Glimpse is. */
export interface Config {
  readonly api: string;
  /** Origins, to connect to ahead of the first picture. */
  readonly buckets: { readonly originals: string; readonly thumbnails: string };
  readonly variants: { readonly grid: string; readonly large: string };
  readonly upload: { readonly maxBytes: number; readonly types: readonly string[] };
  /** What an import may bring. */
  readonly imports: { readonly maxBytes: number };
  /** Where the sample gallery can be asked for; on a developer's machine only. */
  readonly sample?: string;
  /** Where the dashboards are; on a developer's machine only. */
  readonly dashboards?: string;
}

/** The pages were not published as they should be. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export async function loadConfig(): Promise<Config> {
  const answer = await fetch('/config.json');
  if (!answer.ok) {
    throw new ConfigError(
      `This page's config.json is missing (${answer.status}): publish the pages again.`,
    );
  }
  return readConfig(await answer.json());
}

function readConfig(told: unknown): Config {
  const { api, buckets, variants, upload, imports, sample, dashboards } = fields(told);
  const { originals, thumbnails } = fields(buckets);
  const { grid, large } = fields(variants);
  const { maxBytes, types } = fields(upload);
  try {
    return {
      api: text(api),
      buckets: { originals: text(originals), thumbnails: text(thumbnails) },
      variants: { grid: text(grid), large: text(large) },
      upload: { maxBytes: number(maxBytes), types: list(types).map(text) },
      imports: { maxBytes: number(fields(imports).maxBytes) },
      ...(sample === undefined ? {} : { sample: text(sample) }),
      ...(dashboards === undefined ? {} : { dashboards: text(dashboards) }),
    };
  } catch (cause) {
    throw new ConfigError(
      "This page's config.json is not of this version: publish the pages again.",
      { cause },
    );
  }
}
