import { render } from 'preact';
import '../glimpse-image/glimpse-image.ts';
import { App } from './app.tsx';
import { ConfigError, loadConfig } from './config.ts';
import { rememberScrolling } from './use-restored-scroll.ts';

const root = document.getElementById('app');
if (root === null) throw new Error('The page has no place for the gallery.');

// The browser would do it before the pictures have their places.
history.scrollRestoration = 'manual';
rememberScrolling();

try {
  const config = await loadConfig();
  const connection = document.createElement('link');
  connection.rel = 'preconnect';
  connection.href = config.buckets.thumbnails;
  document.head.append(connection);
  render(<App config={config} />, root);
} catch (error) {
  const reason = error instanceof ConfigError ? error.message : 'Glimpse cannot be reached.';
  render(<Unreachable reason={reason} />, root);
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
