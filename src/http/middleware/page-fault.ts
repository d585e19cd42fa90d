import type { Context } from 'koa';
import { isRead } from './is-read.ts';

/** Which web pages may call. */
export interface PagePorts {
  /** Origins whose pages may call from a browser; `*` for any. */
  origins: readonly string[];
  /** Where others reach the agent; empty for nowhere. */
  publicUrl: string;
}

/** A host whose name somebody on the internet can have, with a port or without: neither an address nor a single word. */
const ownable = /^(?!\[|[\d.]+(:\d*)?$)[^:]*\./;

/**
 * Judges requests without a token: says why one may come from a web page of others, `null` when it does not.
 *
 * An agent that asks nobody to sign in trusts the people of this machine, and the pages in their browsers are none of
 * them: the name of a page can be made to lead to this machine, and a page may send what it cannot read the answer of.
 * A browser always says which host it means, and with what is no read whose page it is.
 */
export function createPageJudge({ origins, publicUrl }: PagePorts) {
  const publicHost = URL.parse(publicUrl)?.host ?? null;
  return function pageFault(ctx: Context): string | null {
    if (origins.includes('*')) return null;
    const host = ctx.get('Host').toLowerCase();
    if (ownable.test(host) && host !== publicHost) return foreignHost;
    const origin = ctx.get('Origin');
    if (origin === '' || isRead(ctx.method) || origins.includes(origin)) return null;
    return URL.parse(origin)?.host === host ? null : foreignPage;
  };
}

const foreignHost =
  'without a token the agent answers to no such host name; call it by its address, sign in, or set server.public_url';

const foreignPage = 'pages of this origin may not call; list it in server.cors_origins';
