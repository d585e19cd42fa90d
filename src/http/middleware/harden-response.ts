import type { Context, Middleware, Next } from 'koa';
import type { RequestState } from '../request-state.ts';

/** Sets the headers that every response carries (contract section 5). */
export function hardenResponse(): Middleware<RequestState> {
  return function responseHardener(ctx: Context, next: Next) {
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.set('Cache-Control', 'no-store');
    return next();
  };
}
