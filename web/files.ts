import { existsSync, readdirSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';

/** A file that was built, as browsers are to get it: from CloudFront and from the local cloud alike. */
export interface PageFile {
  /** Below the pages' address: `assets/index-1a2b3c.js`. */
  readonly path: string;
  readonly file: string;
  readonly contentType: string;
  readonly cacheControl: string;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** Kept, but asked about each time. */
const REVALIDATED = 'no-cache';
/** A changed file has another name. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Those of a developer's machine: on AWS, CloudWatch is in their place. */
export const LOCAL_PAGES: readonly string[] = ['dashboards.html'];

/**
 * What `buildWeb` made, but for the pages of a developer's machine, in the order in which it may appear: a page comes after all that it names.
 * Nothing, if nothing was built.
 */
export function builtFiles(root: string): PageFile[] {
  return allFiles(root).filter(({ path }) => !LOCAL_PAGES.includes(path));
}

export function localFiles(root: string): PageFile[] {
  return allFiles(root).filter(({ path }) => LOCAL_PAGES.includes(path));
}

function allFiles(root: string): PageFile[] {
  const pages = join(root, 'dist', 'pages');
  const element = join(root, 'dist', 'glimpse-image.js');
  if (!existsSync(pages) || !existsSync(element)) return [];
  const files = readdirSync(pages, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => pageFile(relative(pages, file).split(sep).join('/'), file));
  const isPage = ({ path }: PageFile) => path.endsWith('.html');
  return [
    ...files.filter((each) => !isPage(each)),
    pageFile('glimpse-image.js', element),
    ...files.filter(isPage),
  ];
}

/** The file that tells the pages where the stack is: the output PagesConfig. */
export function configFile(): Omit<PageFile, 'file'> {
  return {
    path: 'config.json',
    contentType: contentTypeOf('config.json'),
    cacheControl: REVALIDATED,
  };
}

function pageFile(path: string, file: string): PageFile {
  return {
    path,
    file,
    contentType: contentTypeOf(path),
    // Vite puts a digest of the content into the names of this folder.
    cacheControl: path.startsWith('assets/') ? FOR_EVER : REVALIDATED,
  };
}

function contentTypeOf(path: string): string {
  const type = CONTENT_TYPES[extname(path)];
  if (type !== undefined) return type;
  throw new Error(
    `web/files.ts: expected a file of a known type (${Object.keys(CONTENT_TYPES).join(', ')}), got ${path}.`,
  );
}
