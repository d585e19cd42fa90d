import { hash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import type { Context, Middleware, Next } from 'koa';
import { Problem } from '../wire/problem.ts';

/** Content security policy: the page may run only its own files and connect only to its own server. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
];

/** Headers that isolate the page in the browser. */
export const pageHeaders = {
  'Content-Security-Policy': policy.join('; '),
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** The same for a page that can be installed. */
export const installableHeaders = {
  ...pageHeaders,
  'Content-Security-Policy': [...policy, "manifest-src 'self'", "worker-src 'self'"].join('; '),
};

/** A file of the built page. */
interface PageFile {
  path: string;
  type: string;
  /** True if the file name contains a content hash, so the file never changes. */
  isImmutable: boolean;
}

/** The files of the built page by URL path. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/** Reads the files of the built page; `null` if it is not built. */
export function readPageFiles(folder: string): PageFiles | null {
  if (statSync(join(folder, 'index.html'), { throwIfNoEntry: false })?.isFile() !== true)
    return null;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry): [string, PageFile] => {
      const path = join(entry.parentPath, entry.name);
      const address = `/${relative(folder, path).split(sep).join('/')}`;
      const type = types[extname(path)] ?? 'application/octet-stream';
      return [address, { path, type, isImmutable: address.startsWith('/assets/') }];
    });
  const found = new Map(files);
  const index = found.get('/index.html');
  if (index !== undefined) found.set('/', index);
  return found;
}

/**
 * Serves only files of the map, below the path `below`. No request path reaches the disk. The path of the request stays,
 * since a shorter one would lead a request that is public here to other routes.
 */
export function servePage({
  page,
  below = '',
}: {
  page: PageFiles | null;
  below?: string;
}): Middleware {
  return function pageServer(ctx: Context, next: Next) {
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    const path = ctx.path.slice(below.length);
    if (!isRead || path.startsWith('/api')) return next();
    if (page === null) {
      if (path !== '/') return next();
      throw new Problem('page_not_built', 'the page is not built', { hint: 'npm run build' });
    }
    const file = page.get(path);
    if (file === undefined) return next();
    const body = readFileSync(file.path);
    ctx.set('Cache-Control', file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache');
    ctx.status = 200;
    // Weak, because the file is sent with different compressions.
    ctx.set('ETag', `W/"${hash('sha256', body).slice(0, 32)}"`);
    if (ctx.fresh) {
      ctx.status = 304;
      return undefined;
    }
    ctx.set('Content-Type', file.type);
    ctx.body = body;
    return undefined;
  };
}
