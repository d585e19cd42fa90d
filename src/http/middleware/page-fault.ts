import type { Context } from 'koa';
import { Problem } from '../wire/problem.ts';
import { isFromForeignSite } from './foreign-site.ts';
import { isRead } from './is-read.ts';

/** Web pages that may call the agent. */
export interface PagePorts {
  /** Origins whose pages may call from a browser; `*` for any. */
  origins: readonly string[];
  /** The agent's public URL; empty if there is none. */
  publicUrl: string;
}

/**
 * Matches a host name that can be registered on the internet, with or without a port: neither an IP address nor a
 * single word.
 */
const ownable = /^(?!\[|[\d.]+(:\d*)?$)[^:]*\./;

/**
 * Creates the check for requests without a token. It returns the refusal if a request may come from a foreign web page,
 * otherwise `null`. Without authentication, the agent trusts the users of this machine but not the pages in their
 * browsers. DNS rebinding can point a page's host name at this machine, and a page can send requests without reading
 * the responses. A browser always sends the host, sends the origin with every request other than a read, and a modern
 * browser also sends the initiating site.
 */
export function createPageCheck({ origins, publicUrl }: PagePorts) {
  const publicHost = URL.parse(publicUrl)?.host ?? null;
  return function pageFault(ctx: Context): Problem | null {
    if (origins.includes('*')) return null;
    const host = ctx.get('Host').toLowerCase();
    if (ownable.test(host) && host !== publicHost)
      return new Problem('forbidden_host', foreignHost);
    const origin = ctx.get('Origin');
    if (origins.includes(origin)) return null;
    const isOwn = origin === '' || isRead(ctx.method) || URL.parse(origin)?.host === host;
    const isForeign = isFromForeignSite(ctx) || !isOwn;
    return isForeign ? new Problem('forbidden_origin', foreignPage) : null;
  };
}

const foreignHost =
  'without a token the agent answers to no such host name; call it by its address, sign in, or set server.public_url';

const foreignPage = 'pages of this origin may not call; list it in server.cors_origins';
