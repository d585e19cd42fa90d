import type { Context, Middleware, Next } from 'koa';
import type { RequestState } from '../request-state.ts';

/** Sets the headers that every response carries (docs/contract/transports.md). */
export function hardenResponse(): Middleware<RequestState> {
  return function responseHardener(ctx: Context, next: Next) {
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.set('Cache-Control', 'no-store');
    // What a page may read is settled by CORS; nothing is of use to one that only embeds it.
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    return next();
  };
}
