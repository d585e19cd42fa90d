import type { Context, Middleware, Next } from 'koa';
import { Problem } from '../../http/wire/problem.ts';

interface Guarded {
  hosts: readonly string[];
  port: () => number;
}

/**
 * Rejects a request whose `Host` names another server. A foreign page can make its own host name resolve to this server
 * (DNS rebinding), and then only the `Host` header reveals it (docs/contract/dashboard.md).
 */
export function guardHost({ hosts, port }: Guarded): Middleware {
  return function hostGuard(ctx: Context, next: Next) {
    const host = (ctx.req.headers.host ?? '').toLowerCase();
    const at = port();
    const isOwn = hosts.some((name) => host === `${name}:${at}` || (at === 80 && host === name));
    if (!isOwn) throw new Problem(403, { error: 'forbidden_host' }, { Connection: 'close' });
    return next();
  };
}
