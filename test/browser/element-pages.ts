import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { resolve } from 'node:path';

// A page as somebody else would write it, with <glimpse-image> in it and a policy that allows no
// more than the element says it needs.

export interface ElementPages {
  /** @returns the address of a page with this in its body */
  show(body: string): string;
  stop(): void;
}

const CSS = `
body { margin: 0; font: 16px sans-serif; }
.row { display: flex; flex-wrap: wrap; gap: 2px; }
.row glimpse-image { width: 38px; }
.one { width: 300px; }
.below { margin-top: 8000px; }
`;

export async function serveElementPages({
  api,
  s3,
  token,
}: {
  api: string;
  s3: string;
  token?: string;
}): Promise<ElementPages> {
  const script = await readFile(resolve(import.meta.dirname, '../../dist/glimpse-image.js'));
  // As docs/glimpse-image.md says it.
  const signedIn = `import { GlimpseImage } from '/glimpse-image.js';
GlimpseImage.authorize = () => ${JSON.stringify(token)};`;
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${s3}`,
    `connect-src ${api}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  const pages: string[] = [];
  const server = createServer((request, response) => {
    const answer = (type: string, body: string | Buffer) =>
      response
        .writeHead(200, { 'content-type': type, 'content-security-policy': policy })
        .end(body);
    const page = pages[Number(request.url?.slice(1) || Number.NaN)];
    if (request.url === '/signed-in.js') answer('text/javascript', signedIn);
    else if (request.url === '/glimpse-image.js') answer('text/javascript', script);
    else if (request.url === '/page.css') answer('text/css', CSS);
    else if (page !== undefined) answer('text/html; charset=utf-8', page);
    else response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No address.');
  return {
    show(body) {
      const page = `<!doctype html><html lang="en"><title>A page of somebody's</title>
<meta name="glimpse-api" content="${api}"><link rel="stylesheet" href="/page.css">
<script type="module" src="/signed-in.js"></script><main><h1>Pictures</h1>${body}</main></html>`;
      return `http://127.0.0.1:${address.port}/${pages.push(page) - 1}`;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** @param attributes `image` and whatever else the element takes */
export function element(attributes: Readonly<Record<string, string | number>>): string {
  const quoted = (value: string | number) =>
    String(value).replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const list = Object.entries(attributes).map(([name, value]) => ` ${name}="${quoted(value)}"`);
  return `<glimpse-image${list.join('')}></glimpse-image>`;
}
