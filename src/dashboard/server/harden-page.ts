import type { Context, Middleware, Next } from 'koa';
import { pageHeaders } from '../../http/middleware/page-files.ts';

/** Sets the headers that isolate the page on every response. */
export function hardenPage(): Middleware {
  return function pageHardener(ctx: Context, next: Next) {
    ctx.set(pageHeaders);
    return next();
  };
}
