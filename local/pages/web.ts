import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { builtFiles, configFile, localFiles } from '../../web/files.ts';
import type { Dashboards } from '../dashboards/dashboards.ts';
import type { CloudEndpoints } from '../endpoints.ts';
import { corsHeaders } from '../http-api/cors.ts';
import type { PagesPlan } from '../template/stack.ts';
import { aboutPage } from './about.ts';
import { isFromOwnPage, isOwnName, type Sample } from './sample.ts';

export interface WebOptions {
  /** The project's folder, where the pages were built. */
  root: string;
  /** As they are now: a token in them is renewed. */
  endpoints: () => CloudEndpoints;
  /** Nothing, where the stack has no pages. */
  pages: PagesPlan | undefined;
  sample: Sample;
  dashboards: Dashboards;
}

interface Served {
  readonly body: Buffer;
  readonly contentType: string;
  readonly cacheControl: string;
  readonly etag: string;
}

type Files = ReadonlyMap<string, Served>;

/** The template's dashboards with what was measured here; its page is below the same path. */
const DASHBOARDS = '/dashboards';
const DASHBOARDS_DATA = 'dashboards/drawn.json';
/** Minutes that metrics are kept. */
const MOST_MINUTES = 180;

/** POST uploads the sample gallery; GET tells how far that is. */
const SAMPLE = '/sample';
const NOT_BUILT = 'The pages have not been built: run "npm run build", and start again.';

/**
 * What browsers open: the pages, with the headers that CloudFront would give them, and some that
 * exist only here. The files are those of the start, by name, so that no path can lead elsewhere.
 */
export function createWeb({
  root,
  endpoints,
  pages,
  sample,
  dashboards,
}: WebOptions): RequestListener {
  const files = pages === undefined ? new Map<string, Served>() : readPages(root, pages);
  const own = ownFiles(endpoints());
  const headers = pages?.headers ?? {};

  return (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0]?.slice(1) ?? '';
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (path === SAMPLE.slice(1)) {
      serveSample(request, response, endpoints().web, sample);
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      sendText(response, 405, 'Expected GET or HEAD.');
      return;
    }
    if (path === DASHBOARDS_DATA) {
      sendDashboards(request, response, dashboards);
      return;
    }
    const found = own.get(path);
    if (path === 'endpoints.json') sendEndpoints(request, response, endpoints());
    else if (found !== undefined) send(request, response, 200, found);
    else if (pages !== undefined) servePage(request, response, path, files, pages);
    else if (path === '') response.writeHead(302, { location: '/about' }).end();
    else sendText(response, 404, 'Not found.');
  };
}

/** They hold a token and credentials. */
function sendEndpoints(
  request: IncomingMessage,
  response: ServerResponse,
  endpoints: CloudEndpoints,
): void {
  if (isOwnName(request.headers.host, endpoints.web)) {
    send(request, response, 200, endpointsFile(endpoints));
  } else sendText(response, 403, `Expected this server to be called ${endpoints.web}.`);
}

function serveSample(
  request: IncomingMessage,
  response: ServerResponse,
  web: string,
  sample: Sample,
): void {
  if (request.method === 'POST') {
    request.resume();
    if (!isFromOwnPage(request, web)) {
      sendText(response, 403, 'Expected a request from a page of this server.');
      return;
    }
    void sample.start();
  }
  response.setHeader('cache-control', 'no-store');
  response.writeHead(request.method === 'POST' ? 202 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(sample.state));
}

function sendDashboards(
  request: IncomingMessage,
  response: ServerResponse,
  dashboards: Dashboards,
): void {
  const { searchParams } = new URL(request.url ?? '', 'http://localhost');
  const minutes = Number(searchParams.get('minutes'));
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > MOST_MINUTES) {
    sendText(response, 400, `Expected minutes from 1 to ${MOST_MINUTES}.`);
    return;
  }
  response.setHeader('cache-control', 'no-store');
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ dashboards: dashboards.draw(minutes) }));
}

function servePage(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  files: Files,
  pages: PagesPlan,
): void {
  for (const [name, value] of Object.entries(corsHeaders(pages.cors, request.headers.origin))) {
    response.setHeader(name, value);
  }
  if (!files.has(pages.rootObject)) {
    sendText(response, 503, NOT_BUILT);
    return;
  }
  const found = files.get(path === '' ? pages.rootObject : path);
  if (found !== undefined) {
    send(request, response, 200, found);
    return;
  }
  // CloudFront may read the bucket but not list it, so S3 would answer 403.
  const error = pages.errors.get(403);
  const page = files.get(error?.path ?? '');
  if (error === undefined || page === undefined) sendText(response, 403, 'Access denied.');
  else send(request, response, error.status, page);
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  { body, contentType, cacheControl, etag }: Served,
): void {
  response.setHeader('cache-control', cacheControl);
  response.setHeader('etag', etag);
  if (status === 200 && request.headers['if-none-match'] === etag) {
    response.writeHead(304).end();
    return;
  }
  response.writeHead(status, { 'content-type': contentType, 'content-length': body.length });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.setHeader('cache-control', 'no-store');
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}

function readPages(root: string, pages: PagesPlan): Files {
  const built = builtFiles(root);
  if (built.length === 0) return new Map();
  const { path, ...config } = configFile();
  return new Map([
    ...localFiles(root).map(
      ({ path, file, ...how }) =>
        [path.replace(/\.html$/, ''), served(readFileSync(file), how)] as const,
    ),
    ...built.map(({ path, file, ...how }) => [path, served(readFileSync(file), how)] as const),
    [path, served(withOwn(pages.config), config)] as const,
  ]);
}

/** Tells the pages of what there is not on AWS: a sample gallery to be had, and dashboards beside them. */
function withOwn(config: string): string {
  return JSON.stringify({ ...JSON.parse(config), sample: SAMPLE, dashboards: DASHBOARDS });
}

function ownFiles(endpoints: CloudEndpoints): Files {
  const cacheControl = 'no-cache';
  const css = readFileSync(join(import.meta.dirname, 'about.css'));
  return new Map([
    [
      'about',
      served(aboutPage(endpoints), { contentType: 'text/html; charset=utf-8', cacheControl }),
    ],
    ['about.css', served(css, { contentType: 'text/css; charset=utf-8', cacheControl })],
  ]);
}

function endpointsFile(endpoints: CloudEndpoints): Served {
  const json = `${JSON.stringify(endpoints, undefined, 2)}\n`;
  return served(json, { contentType: 'application/json', cacheControl: 'no-store' });
}

function served(
  content: string | Buffer,
  how: { contentType: string; cacheControl: string },
): Served {
  const body = Buffer.from(content);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { body, etag, ...how };
}
