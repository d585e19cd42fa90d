import { Dispatcher1Wrapper, Pool } from 'undici';
import { EgressError } from './egress-error.ts';

/** A fetch that reaches one origin of this machine; `close` ends its connections. */
export interface OwnFetch {
  fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/** Maximum silence in milliseconds: a stream of the daemon sends a comment every 4 seconds, so a silent one is dead. */
const longestSilence = 60_000;

/** Node's own fetch, saved before `guardProcess` replaces it. */
const nodeFetch = globalThis.fetch;

/** Wildcard listening addresses, with the address under which the server is reachable. */
const listening: Record<string, string> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' };

/**
 * Creates a fetch for requests of the daemon to itself. `url` is its listening address; a wildcard such as `0.0.0.0`
 * means loopback. The fetch is exempt from the egress policy, since nothing leaves the daemon. Any other origin, and
 * every redirect, is refused with an EgressError. Responses have no time limit. Throws TypeError for a URL that is not
 * http.
 */
export function createOwnFetch(url: URL): OwnFetch {
  if (url.protocol !== 'http:') throw new TypeError('the own address of the daemon must be http');
  const own = reachable(url);
  const origins: ReadonlySet<string> = new Set([url.origin, own.origin]);
  const pool = new Pool(own.origin, { headersTimeout: 0, bodyTimeout: longestSilence });
  const dispatcher = new Dispatcher1Wrapper(pool);
  return {
    async fetch(input, init = {}) {
      const asked = new URL(input instanceof Request ? input.url : input);
      if (!origins.has(asked.origin)) throw refused(asked, 'is not the address of this daemon');
      const target = new URL(`${asked.pathname}${asked.search}`, own);
      // Node's fetch types come from another undici version than this dispatcher.
      const options = { ...init, redirect: 'manual', dispatcher } as unknown as RequestInit;
      const response = await nodeFetch(
        input instanceof Request ? new Request(target, input) : target,
        options,
      );
      if (response.status < 300 || response.status >= 400) return response;
      await response.body?.cancel();
      throw refused(own, 'answered with a redirect');
    },
    close: () => pool.destroy(),
  };
}

function reachable(url: URL): URL {
  const own = new URL(url.origin);
  own.hostname = listening[own.hostname] ?? own.hostname;
  return own;
}

function refused({ hostname }: URL, why: string): EgressError {
  return new EgressError({ host: hostname, why, mode: 'deny-all' });
}
