import type Router from '@koa/router';
import type { Next } from 'koa';
import type { RequestState, RoutedContext } from '../request-state.ts';

/**
 * Answers requests that no route handles: `OPTIONS`, and 405 with `Allow` for a known path
 * (docs/contract/transports.md). Runs before the router, because a literal route path such as `/tasks/send` must never
 * match as an ID.
 */
export function allowMethods({ stack }: Router<RequestState>) {
  const spelledOut = new Map<string, Set<string>>();
  for (const { path, methods } of stack) {
    if (typeof path !== 'string' || path.includes(':')) continue;
    spelledOut.set(path, new Set([...(spelledOut.get(path) ?? []), ...methods]));
  }
  return async function methodAllower(ctx: RoutedContext, next: Next) {
    const own = spelledOut.get(withoutLastSlash(ctx.path));
    if (own !== undefined && !own.has(ctx.method)) return refuse(ctx, own);
    await next();
    const isAnswered = ctx.body !== undefined && ctx.body !== null;
    if (ctx.status !== 404 || isAnswered) return;
    const methods = new Set((ctx.matched ?? []).flatMap((layer) => layer.methods));
    if (methods.size > 0) refuse(ctx, methods);
  };
}

function refuse(ctx: RoutedContext, methods: ReadonlySet<string>): void {
  ctx.set('Allow', [...methods].join(', '));
  ctx.status = ctx.method === 'OPTIONS' ? 204 : 405;
}

/** The router matches a path with and without a trailing slash. */
function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
