import type { Context, Middleware, Next } from 'koa';

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
].join('; ');

/** Headers that isolate the page in the browser. */
export const pageHeaders = {
  'Content-Security-Policy': policy,
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** Sets the headers that isolate the page on every response. */
export function hardenPage(): Middleware {
  return function pageHardener(ctx: Context, next: Next) {
    ctx.set(pageHeaders);
    return next();
  };
}
