import type { Next } from 'koa';
import type { RoutedContext } from '../request-state.ts';

/** Answers what no route took: `OPTIONS`, and 405 with `Allow` for a known path (contract section 5). */
export function allowMethods() {
  return async function methodAllower(ctx: RoutedContext, next: Next) {
    await next();
    const methods = new Set((ctx.matched ?? []).flatMap((layer) => layer.methods));
    const isAnswered = ctx.body !== undefined && ctx.body !== null;
    if (methods.size === 0 || ctx.status !== 404 || isAnswered) return;
    ctx.set('Allow', [...methods].join(', '));
    ctx.status = ctx.method === 'OPTIONS' ? 204 : 405;
  };
}
