import cors from '@koa/cors';
import type { Context, Middleware, Next } from 'koa';
import type { RequestState } from '../request-state.ts';

const methods = ['GET', 'HEAD', 'POST'];

/** What a page may send, besides what browsers always let it send. */
const requestHeaders = [
  'Authorization',
  'Content-Type',
  'Last-Event-ID',
  'X-Correlation-ID',
  'traceparent',
];

/** What a page may read of an answer, besides what browsers always let it read. */
const responseHeaders = ['X-Correlation-ID', 'Retry-After', 'WWW-Authenticate'];

/** Seconds for which a browser need not ask again. */
const remembered = 600;

/**
 * Lets pages of these origins call from a browser, and answers what the browser asks beforehand;
 * `*` lets any page, none lets no page (contract section 3). Cookies are never taken.
 */
export function allowOrigins({
  origins,
}: {
  origins: readonly string[];
}): Middleware<RequestState> {
  if (origins.length === 0) return (_: Context, next: Next) => next();
  const listed = new Set(origins);
  return cors({
    origin: listed.has('*')
      ? '*'
      : (ctx) => (listed.has(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    allowMethods: methods,
    allowHeaders: requestHeaders,
    exposeHeaders: responseHeaders,
    maxAge: remembered,
    // The headers are on the response already; errors need not carry them as well.
    keepHeadersOnError: false,
  });
}
