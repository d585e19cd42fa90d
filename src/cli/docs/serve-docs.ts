import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { packageRoot, programFolder } from '../../package-root.ts';
import type { DocPage } from './doc-pages.ts';
import { htmlIndex, htmlPage, htmlSearch } from './html-page.ts';
import { searchPages } from './search-pages.ts';

/** The documentation on a loopback port. */
export interface DocsServer {
  /** Origin without a slash. */
  url: string;
  close: () => void;
}

/** Maximum characters of a search. */
const longestSearch = 200;

const headers = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

interface Answer {
  type: string;
  body: string | Buffer;
}

/** Serves the pages and their images on a loopback port. A path that is not one of them is 404; no file is looked up. */
export async function serveDocs(pages: readonly DocPage[], port: number): Promise<DocsServer> {
  const server = createServer((request, response) => respond(request, response, pages));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: used } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${used}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  pages: readonly DocPage[],
): void {
  const { method = '', url = '', headers: sent } = request;
  if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(sent.host ?? '')) return end(response, 421);
  if (method !== 'GET' && method !== 'HEAD') return end(response, 405);
  const asked = URL.parse(url, 'http://127.0.0.1');
  const answer = asked === null ? null : answerOf(asked, pages);
  if (answer === null) return end(response, 404);
  response.writeHead(200, { ...headers, 'content-type': answer.type });
  response.end(method === 'HEAD' ? undefined : answer.body);
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status, { ...headers, 'content-type': 'text/plain' });
  response.end(`${status}\n`);
}

function answerOf({ pathname, searchParams }: URL, pages: readonly DocPage[]): Answer | null {
  if (pathname === '/') return html(htmlIndex(pages));
  if (pathname === '/style.css') return { type: 'text/css', body: readFileSync(style()) };
  if (pathname === '/search') {
    const words = (searchParams.get('words') ?? '').slice(0, longestSearch);
    return html(htmlSearch(pages, words, searchPages(pages, words.split(/\s+/))));
  }
  const image = imagesOf(pages).find((name) => pathname === `/screens/${name}`);
  if (image !== undefined) {
    const file = join(packageRoot, 'docs/screens', image);
    // An image of a container leaves the pictures out.
    return existsSync(file) ? { type: 'image/png', body: readFileSync(file) } : null;
  }
  const page = pages.find(({ name }) => pathname === `/${name}`);
  return page === undefined ? null : html(htmlPage(pages, page));
}

function html(body: string): Answer {
  return { type: 'text/html; charset=utf-8', body };
}

function style(): string {
  return join(programFolder, 'cli/docs/page-style.css');
}

/** Lists the images that the pages show. */
function imagesOf(pages: readonly DocPage[]): string[] {
  return pages.flatMap(({ text }) =>
    [...text.matchAll(/\]\([\w./-]*screens\/([\w-]+\.png)\)/g)].map(([, name = '']) =>
      basename(name),
    ),
  );
}
