import { render } from 'preact';
import '../glimpse-image/glimpse-image.ts';
import { App } from './app.tsx';
import { loadConfig } from './config.ts';

const root = document.getElementById('app');
if (root === null) throw new Error('The page has no place for the gallery.');

// The browser would do it before the pictures have their places.
history.scrollRestoration = 'manual';

try {
  const config = await loadConfig();
  const connection = document.createElement('link');
  connection.rel = 'preconnect';
  connection.href = config.buckets.thumbnails;
  document.head.append(connection);
  render(<App config={config} />, root);
} catch (error) {
  root.textContent = error instanceof Error ? error.message : String(error);
}
