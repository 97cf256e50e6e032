import { GlimpseImage } from '../glimpse-image/glimpse-image.ts';
import { showPage } from '../shell/show-page.tsx';
import { App } from './app.tsx';
import { rememberScrolling } from './use-restored-scroll.ts';

// The browser would do it before the pictures have their places.
history.scrollRestoration = 'manual';
rememberScrolling();

await showPage((config) => {
  const { session } = config;
  if (session !== undefined) GlimpseImage.authorize = (refused) => session.token(refused);
  const connection = document.createElement('link');
  connection.rel = 'preconnect';
  connection.href = config.buckets.thumbnails;
  document.head.append(connection);
  return <App config={config} />;
});
