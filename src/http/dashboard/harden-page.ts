import type { Context, Middleware, Next } from 'koa';

/** What the page may do: run its own files and speak with the server it came from. */
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
].join('; ');

/** The headers by which a browser keeps the page to itself. */
export const pageHeaders = {
  'Content-Security-Policy': policy,
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** Sets the headers by which a browser keeps the page to itself, on every answer. */
export function hardenPage(): Middleware {
  return function pageHardener(ctx: Context, next: Next) {
    ctx.set(pageHeaders);
    return next();
  };
}
