import { Dispatcher1Wrapper, Pool } from 'undici';
import { EgressError } from './egress-error.ts';

/** A fetch that reaches one origin of this machine; `close` ends its connections. */
export interface OwnFetch {
  fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/** A stream of the daemon carries a comment every 4 seconds; one that is silent for longer is gone. */
const longestSilence = 60_000;

/** Node's own, as it is before the process is guarded. */
const nodeFetch = globalThis.fetch;

/** Addresses that a server listens at, and nobody can call. */
const listening: Record<string, string> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' };

/**
 * Creates a fetch for what the daemon asks of itself, at the address where it listens; one that stands for every
 * address, such as `0.0.0.0`, means loopback. It is not under the egress policy, since nothing leaves the daemon:
 * whatever else is asked for, and every redirect, is refused with an EgressError. An answer may be held for as long
 * as the caller waits. Throws TypeError for a URL that is not http.
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
      // Node types its fetch by another version of undici than the one whose dispatcher this is.
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
