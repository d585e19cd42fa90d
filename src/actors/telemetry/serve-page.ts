import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Refusal, readerRefusal } from './watcher-refusal.ts';

/** A file of a page as sent to browsers. */
export interface PageFile {
  type: string;
  body: string;
}

/** Content security policy: own scripts, own styles, and connections to the serving origin only. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers = {
  'Content-Security-Policy': policy,
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** Answers a read request for one of the files; all other requests are refused. */
export function servePage(
  files: ReadonlyMap<string, PageFile>,
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
): void {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const file = files.get(path);
  const refusal = readerRefusal(request, port) ?? refusalOf(request.method, file);
  if (refusal !== null || file === undefined) {
    const { status, reason } = refusal ?? notFound;
    const allow = status === 405 ? { Allow: 'GET, HEAD' } : {};
    response.writeHead(status, { ...headers, ...allow, 'Content-Type': 'text/plain' });
    response.end(`${reason}\n`);
    return;
  }
  const length = Buffer.byteLength(file.body);
  response.writeHead(200, { ...headers, 'Content-Type': file.type, 'Content-Length': length });
  response.end(file.body);
}

const notFound: Refusal = { status: 404, reason: 'there is no such file; the page is at /' };

function refusalOf(method: string | undefined, file: PageFile | undefined): Refusal | null {
  if (file === undefined) return notFound;
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead ? null : { status: 405, reason: 'the page is read-only' };
}
