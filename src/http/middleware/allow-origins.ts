import cors from '@koa/cors';
import type { Context, Middleware, Next } from 'koa';
import type { RequestState } from '../request-state.ts';

const methods = ['GET', 'HEAD', 'POST'];

/** Request headers that a page may send, in addition to those always allowed. */
const requestHeaders = [
  'Authorization',
  'Content-Type',
  'Last-Event-ID',
  'X-Correlation-ID',
  'traceparent',
];

/** Response headers that a page may read, in addition to those always exposed. */
const responseHeaders = [
  'X-Correlation-ID',
  'Retry-After',
  'WWW-Authenticate',
  'X-Service-Tokens-In',
  'X-Service-Tokens-Out',
  'X-Service-Model',
  'X-Service-Duration-Ms',
];

/** Seconds for which a browser may cache a preflight. */
const remembered = 600;

/**
 * Answers CORS requests and preflights of these origins; `*` allows any page, an empty list none
 * (docs/contract/configuration.md). Credentials are never allowed.
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
    // The headers are already on the response, so errors need no copy of them.
    keepHeadersOnError: false,
  });
}
