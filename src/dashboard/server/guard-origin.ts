import type { Context, Middleware, Next } from 'koa';
import { isFromForeignSite } from '../../http/middleware/foreign-site.ts';
import { Problem } from '../../http/wire/problem.ts';

const reads: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Rejects requests from foreign pages, including pages at other ports of this machine. A change must come from this
 * origin or, at the dashboard's own address, from no page at all, and must be JSON. `/api` cannot be read from another site either
 * (docs/contract/dashboard.md). Links to the page itself are allowed anywhere.
 */
export function guardOrigin({ publicOrigin }: { publicOrigin: string | null }): Middleware {
  return function originGuard(ctx: Context, next: Next) {
    const { headers, method = '' } = ctx.req;
    const isRead = reads.has(method);
    const isApi = ctx.path === '/api' || ctx.path.startsWith('/api/');
    const origin = headers.origin?.toLowerCase();
    const own =
      ctx.state.isPublic === true ? publicOrigin : `http://${headers.host?.toLowerCase()}`;
    const isForeign = origin !== undefined && origin !== own;
    if (method === 'OPTIONS' || ((isApi || !isRead) && (isForeign || isFromForeignSite(ctx)))) {
      throw new Problem(403, { error: 'forbidden_origin' }, { Connection: 'close' });
    }
    if (!isRead && !/^application\/json\s*(;|$)/i.test(ctx.get('Content-Type'))) {
      const error = 'send the body as application/json';
      throw new Problem(415, { error }, { Connection: 'close' });
    }
    return next();
  };
}
