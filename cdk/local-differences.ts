import type { Config } from './config-schema.ts';

/** The local cloud puts its issuer's address in the place of this one, which is nobody's. */
const LOCAL_AUTHENTICATION: Config['authentication'] = {
  kind: 'jwt',
  issuer: 'https://issuer.glimpse.invalid',
  audience: 'glimpse',
  pages: { clientId: 'glimpse-pages', scope: 'openid', origins: [] },
};

/**
 * The configuration as the local cloud runs it. Together with where sharp comes from
 * (constructs/glimpse-function.ts), this is all that its template has different from the one that
 * AWS deploys:
 * - the processor is this machine's;
 * - a laptop has no CDN, so the thumbnails bucket answers itself;
 * - buckets that the stack would adopt are not on this machine, so it has its own;
 * - the model provider is the one on this machine, wherever a configured address leads;
 * - who signs in by a token has it from the issuer on this machine.
 */
export function asRunLocally(config: Config): Config {
  const { provider, interactive, bulk } = config.summaries;
  return {
    ...config,
    architecture: process.arch === 'arm64' ? 'arm64' : 'x86_64',
    delivery: config.delivery.kind === 'cdn' ? { kind: 'public' } : config.delivery,
    adopt: {},
    authentication:
      config.authentication.kind === 'jwt' ? LOCAL_AUTHENTICATION : config.authentication,
    summaries: {
      ...config.summaries,
      provider: here(provider),
      interactive: modeHere(interactive),
      bulk: modeHere(bulk),
    },
  };
}

function here<P extends { baseUrl?: string | undefined }>({ baseUrl: _, ...provider }: P) {
  return provider;
}

function modeHere<M extends Config['summaries']['bulk']>({ provider, ...mode }: M) {
  return provider === undefined ? mode : { ...mode, provider: here(provider) };
}
