import { type ComponentChild, render } from 'preact';
import { openSession } from '../sign-in/open-session.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';

/**
 * Shows the page once it is known where the stack is, or says why that is not known. @param anybody may
 * see it; the others are for those who have signed in, where one has to.
 */
export async function showPage(
  page: (config: Config) => ComponentChild,
  { anybody = false }: { anybody?: boolean } = {},
): Promise<void> {
  const root = document.getElementById('app');
  if (root === null) throw new Error('The document has no place for the page.');
  try {
    const config = await loadConfig();
    render(page(anybody ? config : await signedIn(config)), root);
  } catch (error) {
    const reason = error instanceof ConfigError ? error.message : 'Glimpse cannot be reached.';
    render(<Unreachable reason={reason} />, root);
  }
}

/** The configuration with whoever has signed in. */
async function signedIn(config: Config): Promise<Config> {
  if (config.signIn === undefined) return config;
  return { ...config, session: await openSession(config.signIn) };
}

function Unreachable({ reason }: { reason: string }) {
  return (
    <main class="start">
      <h1>Nothing to show</h1>
      <p role="alert">{reason}</p>
      <button type="button" class="main" onClick={() => location.reload()}>
        Try again
      </button>
    </main>
  );
}
