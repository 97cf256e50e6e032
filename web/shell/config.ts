import type { Session } from '../sign-in/session.ts';
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
  /** Where to sign in; nothing where the API lets in everyone. */
  readonly signIn?: SignIn;
  /** Of whoever has signed in there. */
  readonly session?: Session;
}

/** An OpenID Connect issuer, and what these pages are to it. */
export interface SignIn {
  readonly issuer: string;
  readonly audience: string;
  readonly clientId: string;
  readonly scope: string;
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
  const { api, buckets, variants, upload, imports, sample, dashboards, signIn } = fields(told);
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
      ...(signIn === undefined ? {} : { signIn: readSignIn(signIn) }),
    };
  } catch (cause) {
    throw new ConfigError(
      "This page's config.json is not of this version: publish the pages again.",
      { cause },
    );
  }
}

function readSignIn(told: unknown): SignIn {
  const { issuer, audience, clientId, scope } = fields(told);
  return {
    issuer: text(issuer),
    audience: text(audience),
    clientId: text(clientId),
    scope: text(scope),
  };
}
