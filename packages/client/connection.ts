import { GateUnavailable, refusedWith } from './errors.ts';

/** Where the gate is, and how it is asked. */
export interface Connection {
  /** Address of the gate, such as `https://gate.example.com`. */
  url: string;
  /** The bearer token, or a function that returns one for each request. */
  token?: string | (() => string | Promise<string>);
  /** Milliseconds for which a failing request is sent again before GateUnavailable is thrown. Default: 120,000. */
  timeout?: number;
  /** Sends a request. Default: `fetch` of the platform. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** A request to the gate. */
export interface GateRequest {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  body?: string;
  /** True if the gate may hold the request until the decision. */
  waits?: boolean;
  signal?: AbortSignal | undefined;
}

/** A response of the gate. */
export interface Answer {
  status: number;
  body: unknown;
  challenge: string | null;
}

/** Sends a request, and sends it again after a passing failure. */
export type Send = (request: GateRequest) => Promise<Answer>;

/** Milliseconds after which a request without an answer fails, in addition to its wait. */
const patience = 10_000;

/** Maximum wait of one request for a decision, in seconds. */
const longestWait = 30;

/** Maximum size of an answer in bytes. */
const longestAnswer = 4 * 1024 * 1024;

/** Maximum duration of a timer of the platform, in milliseconds. */
const longestTimer = 2 ** 31 - 1;

/**
 * Returns the function that sends requests to a gate. Throws TypeError for an address that is not HTTP. Requests are never redirected,
 * because a redirect could send the token to another host.
 */
export function connect({ url, token, timeout = 120_000, ...options }: Connection): Send {
  const base = baseOf(url);

  return async function send(request) {
    const waited = request.waits === true ? longestWait : 0;
    const until = performance.now() + waited * 1_000 + timeout;
    for (let attempt = 0; ; attempt += 1) {
      request.signal?.throwIfAborted();
      const headers = await headersOf(request, token, waited);
      const within = waited * 1_000 + patience;
      const tried = await attemptOnce(request, headers, within);
      if (tried.failure === undefined) return tried.answer;
      const pause = tried.pause ?? backOff(attempt);
      if (performance.now() + pause > until) throw tried.failure;
      await sleep(pause, request.signal);
    }
  };

  async function attemptOnce(
    { method, path, body, signal }: GateRequest,
    headers: Headers,
    within: number,
  ): Promise<Attempt> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), within);
    const signals = signal === undefined ? [silence.signal] : [silence.signal, signal];
    try {
      const send = options.fetch ?? fetch;
      const response = await send(new URL(path, base).href, {
        ...{ method, headers, redirect: 'manual', credentials: 'omit', cache: 'no-store' },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.any(signals),
      });
      return attemptOf(response, await textOf(response));
    } catch (error) {
      if (error instanceof GateUnavailable) throw error;
      signal?.throwIfAborted();
      const what = silence.signal.aborted ? 'did not answer in time' : 'cannot be reached';
      return { failure: new GateUnavailable(`the gate ${what}`, null, { cause: error }) };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** An answer, or a failure that may pass and the pause that the gate asks for, in milliseconds. */
type Attempt = { answer: Answer; failure?: never } | { failure: GateUnavailable; pause?: number };

/** Resolves after some milliseconds. Rejects with the reason of the signal. */
export async function sleep(duration: number, signal?: AbortSignal): Promise<void> {
  const slept = Promise.withResolvers<void>();
  const leave = () => slept.reject(signal?.reason);
  const timer = setTimeout(slept.resolve, Math.min(duration, longestTimer));
  signal?.addEventListener('abort', leave);
  try {
    await slept.promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  }
}

function baseOf(url: string): URL {
  const base = URL.parse(url);
  const isUsable =
    base !== null && /^https?:$/.test(base.protocol) && base.username + base.password === '';
  if (!isUsable) {
    throw new TypeError('url must be an HTTP address without credentials, such as https://HOST');
  }
  base.search = '';
  base.hash = '';
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  return base;
}

async function headersOf(
  { body }: GateRequest,
  token: Connection['token'],
  wait: number,
): Promise<Headers> {
  const headers = new Headers({ Accept: 'application/json' });
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (wait > 0) headers.set('Prefer', `wait=${wait}`);
  const value = typeof token === 'function' ? await token() : token;
  if (value === undefined) return headers;
  // The error of the platform would quote the token.
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new TypeError(
      'the token has characters that a header cannot have; check where it is read',
    );
  }
  headers.set('Authorization', `Bearer ${value}`);
  return headers;
}

function attemptOf(response: Response, text: string): Attempt {
  const { status, type, redirected, headers } = response;
  if (type === 'opaqueredirect' || redirected || (status >= 300 && status < 400)) {
    throw new GateUnavailable('the gate redirects; use its final address as url', status);
  }
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    const failure = refusedWith(status, parsed(text));
    const pause = pauseOf(headers.get('Retry-After'));
    return pause === null ? { failure } : { failure, pause };
  }
  const body = parsed(text);
  if (body === undefined) throw new GateUnavailable('the answer of the gate is not JSON', status);
  return { answer: { status, body, challenge: headers.get('WWW-Authenticate') } };
}

async function textOf({ body, status }: Response): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let size = 0;
  const reader = body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || value === undefined) return text + decoder.decode();
    size += value.byteLength;
    if (size > longestAnswer) {
      await reader?.cancel();
      throw new GateUnavailable('the answer of the gate is too long', status);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads `Retry-After`, in milliseconds with up to a tenth of jitter; `null` if it has no valid value. */
function pauseOf(header: string | null): number | null {
  if (header === null) return null;
  const seconds = /^\d{1,9}$/.test(header)
    ? Number(header)
    : (Date.parse(header) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? null : Math.max(seconds, 0.1) * 1_000 * (1 + Math.random() / 10);
}

/** Returns the pause before the next attempt, in milliseconds. */
function backOff(attempt: number): number {
  return Math.min(250 * 2 ** attempt, 10_000) * (0.5 + Math.random() / 2);
}
