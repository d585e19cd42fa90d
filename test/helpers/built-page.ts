import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { isPageBuilt } from '../../src/agent/start/built-page.ts';
import { pageHeaders } from '../../src/http/middleware/page-files.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'dist/ui/dashboard');

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

let building: Promise<void> | undefined;

/** Builds the page when it is older than its sources; once, however many ask. */
export function buildPage(): Promise<void> {
  building ??= build();
  return building;
}

/** Sends a file of the built page, under the headers that the product sends. */
export async function sendPageFile(path: string, response: ServerResponse): Promise<void> {
  const name = path === '/' ? 'index.html' : normalize(path).replace(/^\/+/, '');
  const body = await readFile(join(folder, name)).catch(() => null);
  response.writeHead(body === null ? 404 : 200, {
    ...pageHeaders,
    'Content-Type': types[extname(name)] ?? 'text/plain',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  });
  response.end(body ?? '');
}

async function build(): Promise<void> {
  if (isPageBuilt()) return;
  const script = join(root, 'scripts/build-page.ts');
  await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', script]);
}
