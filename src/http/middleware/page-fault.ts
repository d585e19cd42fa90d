import type { Context } from 'koa';
import { isFromForeignSite } from './foreign-site.ts';
import { isRead } from './is-read.ts';

/** Which web pages may call. */
export interface PagePorts {
  /** Origins whose pages may call from a browser; `*` for any. */
  origins: readonly string[];
  /** The public URL of the agent; empty without one. */
  publicUrl: string;
}

/** Matches a host name that anyone on the internet can own, with or without a port: neither an address nor a single word. */
const ownable = /^(?!\[|[\d.]+(:\d*)?$)[^:]*\./;

/**
 * Makes the check of requests without a token: it returns why one may come from a foreign web page, `null` when it does not. Without
 * authentication the agent trusts the people of this machine, but not the pages in their browsers: DNS rebinding leads
 * the name of a page to this machine, and a page may send requests whose answers it cannot read. A browser always sends
 * the host, the origin with every request that is no read, and, if it is of these days, whose page it is.
 */
export function createPageCheck({ origins, publicUrl }: PagePorts) {
  const publicHost = URL.parse(publicUrl)?.host ?? null;
  return function pageFault(ctx: Context): string | null {
    if (origins.includes('*')) return null;
    const host = ctx.get('Host').toLowerCase();
    if (ownable.test(host) && host !== publicHost) return foreignHost;
    const origin = ctx.get('Origin');
    if (origins.includes(origin)) return null;
    if (isFromForeignSite(ctx)) return foreignPage;
    if (origin === '' || isRead(ctx.method)) return null;
    return URL.parse(origin)?.host === host ? null : foreignPage;
  };
}

const foreignHost =
  'without a token the agent answers to no such host name; call it by its address, sign in, or set server.public_url';

const foreignPage = 'pages of this origin may not call; list it in server.cors_origins';
