import type { Context, Middleware, Next } from 'koa';
import type { RequestState } from '../request-state.ts';

/** Sets the standard headers on every response (docs/contract/transports.md). */
export function hardenResponse(): Middleware<RequestState> {
  return function responseHardener(ctx: Context, next: Next) {
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.set('Cache-Control', 'no-store');
    // CORS controls what a page may read; embedding is never needed.
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    return next();
  };
}
