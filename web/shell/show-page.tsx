import { type ComponentChild, render } from 'preact';
import { type Config, ConfigError, loadConfig } from './config.ts';

/** Shows the page once it is known where the stack is, or says why that is not known. */
export async function showPage(page: (config: Config) => ComponentChild): Promise<void> {
  const root = document.getElementById('app');
  if (root === null) throw new Error('The document has no place for the page.');
  try {
    render(page(await loadConfig()), root);
  } catch (error) {
    const reason = error instanceof ConfigError ? error.message : 'Glimpse cannot be reached.';
    render(<Unreachable reason={reason} />, root);
  }
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
