import { type ComponentChild, render } from 'preact';
import { openSession } from '../sign-in/open-session.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import { storageRefusal } from './storage-refusal.ts';

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
    render(<Unreachable reason={reasonOf(error)} />, root);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  return storageRefusal(error) ?? 'Glimpse cannot be reached.';
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
