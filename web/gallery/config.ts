/** What `/config.json` says: where this installation of Glimpse is. */
export interface Config {
  readonly api: string;
  /** Origins, to connect to ahead of the first picture. */
  readonly buckets: { readonly originals: string; readonly thumbnails: string };
  readonly variants: { readonly grid: string; readonly large: string };
  readonly upload: { readonly maxBytes: number; readonly types: readonly string[] };
  /** Where the sample gallery can be asked for; on a developer's machine only. */
  readonly sample?: string;
}

/** The pages were not published as they should be. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The file is generated with the pages, so it is what they expect or it is not there. */
export async function loadConfig(): Promise<Config> {
  const answer = await fetch('/config.json');
  if (!answer.ok) {
    throw new ConfigError(
      `This page's config.json is missing (${answer.status}): publish the pages again.`,
    );
  }
  return await answer.json();
}
