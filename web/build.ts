import { resolve } from 'node:path';
import { build as bundle } from 'esbuild';
import { build } from 'vite';

// Two outputs: the pages, as CloudFront and the local cloud serve them, and <glimpse-image> alone,
// for the pages of others.

/** Builds both into the project's `dist`, and answers the folder of the pages. */
export async function buildWeb(root: string): Promise<string> {
  const pages = resolve(root, 'dist/pages');
  await build({
    root: resolve(root, 'web'),
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir: pages,
      emptyOutDir: true,
      target: 'es2022',
      // A data: URL would need its own place in the Content-Security-Policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });
  await bundle({
    entryPoints: [resolve(root, 'web/glimpse-image/glimpse-image.ts')],
    outfile: resolve(root, 'dist/glimpse-image.js'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
  });
  return pages;
}

if (import.meta.main) {
  console.log(await buildWeb(resolve(import.meta.dirname, '..')));
}
