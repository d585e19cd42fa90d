import { type Dispatcher, Dispatcher1Wrapper } from 'undici';
import { type EgressError, egressCause } from './egress-error.ts';
import { hopOf, userFault } from './policy-interceptor.ts';
import type { Hop } from './rule-hop.ts';

export interface FetchPorts {
  /** Checks, dials and limits each hop. */
  dispatcher: Dispatcher;
  /** Records a refusal and creates its error. */
  refuse: (hop: Hop, why: string) => EgressError;
  /** Runs all hops of one request under one deadline. */
  together: <T>(run: () => Promise<T>) => Promise<T>;
}

/** One hop of a request, after redirects so far. */
interface Asked {
  url: URL;
  method: string;
  headers: Headers;
  body: RequestInit['body'];
  signal: AbortSignal | null;
}

const maximumRedirects = 5;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Headers that may be sent to another origin after a redirect. */
const safelisted: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-language',
  'content-type',
  'range',
  'user-agent',
]);

const bodyHeaders = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-type',
];

/** Node's own fetch, saved before `guardProcess` replaces it. */
const nodeFetch = globalThis.fetch;

/**
 * Creates a fetch under the egress policy. It follows redirects itself: at most five, never from https to http, each
 * one checked, and with only safelisted headers to another origin.
 *
 * Rejects with an EgressError or EgressLimitError where fetch would hide it in a cause. A body that fails midway still
 * fails like fetch's, see `egressCause`. Streams and Request bodies cannot be resent after a redirect.
 */
export function createEgressFetch(ports: FetchPorts): typeof globalThis.fetch {
  const { refuse, together } = ports;
  const dispatcher = new Dispatcher1Wrapper(ports.dispatcher);
  const send = async (input: Parameters<typeof fetch>[0], init: RequestInit): Promise<Response> => {
    try {
      // Node's fetch types come from another undici version than this dispatcher.
      const options = { ...init, redirect: 'manual', dispatcher } as unknown as RequestInit;
      return await nodeFetch(input, options);
    } catch (error) {
      throw egressCause(error) ?? error;
    }
  };
  return async (given, options) => {
    const [input, init] =
      options instanceof Request ? [new Request(given, options), {}] : [given, options ?? {}];
    const url = new URL(input instanceof Request ? input.url : input);
    checkUrl(url, refuse);
    const mode = init.redirect ?? (input instanceof Request ? input.redirect : 'follow');
    return together(async () => {
      let response = await send(input, init);
      let asked: Asked | null = null;
      for (let count = 0; mode !== 'manual' && isRedirect(response); count += 1) {
        await response.body?.cancel();
        if (mode === 'error') throw new TypeError('fetch failed: the answer is a redirect');
        asked = redirected(asked ?? askedFirst(url, input, init), response, refuse);
        if (count === maximumRedirects) {
          throw refuse(hopOf(asked.url), `is behind more than ${maximumRedirects} redirects`);
        }
        const { url: next, ...rest } = asked;
        response = await send(next, rest as RequestInit);
      }
      if (asked !== null) Object.defineProperty(response, 'redirected', { value: true });
      return response;
    });
  };
}

function askedFirst(url: URL, input: Parameters<typeof fetch>[0], init: RequestInit): Asked {
  const request = input instanceof Request ? input : null;
  return {
    url,
    method: (init.method ?? request?.method ?? 'GET').toUpperCase(),
    headers: new Headers(init.headers ?? request?.headers),
    body: init.body ?? request?.body ?? null,
    signal: init.signal ?? request?.signal ?? null,
  };
}

/** Returns the next request by the rules of fetch. Throws an EgressError, or a TypeError like fetch. */
function redirected(asked: Asked, response: Response, refuse: FetchPorts['refuse']): Asked {
  const url = URL.parse(response.headers.get('location') ?? '', asked.url.href);
  if (url === null) throw new TypeError('fetch failed: the answer redirects to no URL');
  checkUrl(url, refuse);
  if (asked.url.protocol === 'https:' && url.protocol === 'http:') {
    throw refuse(hopOf(url), 'is a redirect from https to http');
  }
  const { method, headers, body } = rewritten(asked, response.status);
  if (isStream(body)) throw new TypeError('fetch failed: a stream cannot be sent again');
  const kept =
    url.origin === asked.url.origin
      ? headers
      : new Headers([...headers].filter(([name]) => safelisted.has(name)));
  return { url, method, headers: kept, body, signal: asked.signal };
}

/** A POST becomes a GET after 301 and 302; every method but HEAD does after 303. */
function rewritten(
  { method, headers, body }: Asked,
  status: number,
): Omit<Asked, 'url' | 'signal'> {
  const toGet =
    status === 303
      ? method !== 'GET' && method !== 'HEAD'
      : method === 'POST' && (status === 301 || status === 302);
  if (!toGet) return { method, headers, body };
  const kept = new Headers(headers);
  for (const name of bodyHeaders) kept.delete(name);
  return { method: 'GET', headers: kept, body: null };
}

function checkUrl(url: URL, refuse: FetchPorts['refuse']): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refuse(hopOf(url), 'uses neither http nor https');
  }
  const fault = userFault(url);
  if (fault !== null) throw refuse(hopOf(url), fault);
}

function isRedirect(response: Response): boolean {
  return redirects.has(response.status) && response.headers.has('location');
}

function isStream(body: Asked['body']): boolean {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}
