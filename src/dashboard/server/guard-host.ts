import type { Context, Middleware, Next } from 'koa';
import { Problem } from '../../http/wire/problem.ts';
import { isLoopback } from '../../machines/loopback.ts';

interface Guarded {
  hosts: readonly string[];
  port: () => number;
  /** The public address at which people sign in; `null` without one. */
  publicOrigin: string | null;
}

/**
 * Rejects a request whose `Host` names another server. A foreign page can make its own host name resolve to this server
 * (DNS rebinding), and then only the `Host` header reveals it (docs/contract/dashboard.md). A dashboard with a public
 * address accepts its own names only from this machine and without a proxy, so the token of the operator does not
 * serve the public address.
 */
export function guardHost({ hosts, port, publicOrigin }: Guarded): Middleware {
  const publicHosts = publicOrigin === null ? [] : spellingsOf(new URL(publicOrigin));
  return function hostGuard(ctx: Context, next: Next) {
    const host = (ctx.req.headers.host ?? '').toLowerCase();
    if (publicHosts.includes(host)) {
      ctx.state.isPublic = true;
      return next();
    }
    const at = port();
    const isOwn = hosts.some((name) => host === `${name}:${at}` || (at === 80 && host === name));
    if (!isOwn) throw forbidden({});
    if (publicOrigin !== null && !isDirect(ctx)) throw forbidden({ hint: passHost });
    return next();
  };
}

const passHost = 'a proxy must pass on the Host header of the browser';

const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/** Returns whether a program of this machine has sent a request without a proxy. */
function isDirect({ req }: Context): boolean {
  const address = (req.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  return isLoopback(address) && proxyHeaders.every((name) => req.headers[name] === undefined);
}

function spellingsOf({ host, port, protocol }: URL): string[] {
  return port === '' ? [host, `${host}:${protocol === 'https:' ? 443 : 80}`] : [host];
}

function forbidden(more: { hint?: string }): Problem {
  return new Problem('forbidden_host', 'forbidden_host', { ...more }, { Connection: 'close' });
}
