import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build as bundle } from 'esbuild';
import { build } from 'vite';
import { LOCAL_PAGES } from './files.ts';

// Two outputs: the pages, as CloudFront and the local cloud serve them, and <glimpse-image> alone,
// for the pages of others.

const PAGES = ['index.html', 'imports.html', 'fleet.html', 'signin.html', ...LOCAL_PAGES];

/** Builds both into the project's `dist`, and answers the folder of the pages. */
export async function buildWeb(root: string): Promise<string> {
  const dist = resolve(root, 'dist');
  mkdirSync(dist, { recursive: true });
  // Whoever serves the folder meanwhile has the earlier build until this one is whole.
  const building = mkdtempSync(join(dist, '.building-'));
  try {
    await build({
      root: resolve(root, 'web'),
      configFile: false,
      logLevel: 'warn',
      build: {
        outDir: join(building, 'pages'),
        emptyOutDir: true,
        target: 'es2022',
        // A data: URL would need its own place in the Content-Security-Policy.
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        rolldownOptions: { input: PAGES.map((page) => resolve(root, 'web', page)) },
      },
    });
    await bundle({
      entryPoints: [resolve(root, 'web/glimpse-image/glimpse-image.ts')],
      outfile: join(building, 'glimpse-image.js'),
      bundle: true,
      format: 'esm',
      target: 'es2022',
      minify: true,
      legalComments: 'none',
    });
    replaceFolder(join(building, 'pages'), join(dist, 'pages'), join(building, 'earlier'));
    renameSync(join(building, 'glimpse-image.js'), join(dist, 'glimpse-image.js'));
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  return join(dist, 'pages');
}

/** A folder can only take the place of one that is not there, and two builds may end at once. */
function replaceFolder(from: string, to: string, aside: string): void {
  for (let attempt = 0; ; attempt++) {
    if (existsSync(to)) renameSync(to, `${aside}-${attempt}`);
    try {
      renameSync(from, to);
      return;
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

if (import.meta.main) {
  console.log(await buildWeb(resolve(import.meta.dirname, '..')));
}
