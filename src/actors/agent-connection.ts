import { randomBytes } from 'node:crypto';
import type { Agent, Dispatcher, request } from 'undici';
import { isBrokenOff } from '../machines/error-code.ts';
import type { JsonValue } from '../machines/json.ts';
import { deadline } from './deadline.ts';
import type { Clock } from './ports/clock.ts';
import { systemClock } from './system-clock.ts';

/** The URL of an agent and the credentials sent to it. */
export interface AgentEndpoint {
  url: string;
  token: string | null;
  /** Verifies the listener's answer to a challenge; `null` trusts any listener. */
  isProof: ((challenge: string, answer: string) => boolean) | null;
}

export interface AgentRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Starts with a slash; user input in it is encoded. */
  path: string;
  body?: JsonValue;
  accept: string;
  /** Overrides the token of the endpoint. */
  token?: string;
  lastEventId?: string;
  headers?: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

/** Another program listens on the agent's port; nothing was sent to it. */
export class ImpostorError extends Error {
  readonly code = 'not_the_agent';
}

/** Timeout for the listener's identity proof, in milliseconds. */
const patience = 10_000;

interface Network {
  dispatcher: Agent;
  request: typeof request;
}

/**
 * A connection to one agent. Sends nothing until the listener has proved to be that agent, since another program may
 * have taken over its port. Requests have no response timeout: the agent may hold a request.
 */
export class AgentConnection {
  readonly #endpoint: AgentEndpoint;
  readonly #clock: Clock;
  #proven: Promise<void> | null = null;
  #opened: Promise<Network> | null = null;

  constructor(endpoint: AgentEndpoint, clock: Clock = systemClock()) {
    this.#endpoint = endpoint;
    this.#clock = clock;
  }

  /**
   * Sends a request. A read-only request is retried when the agent closed an idle connection; the listener must prove
   * its identity again first. Rejects with an ImpostorError, the reason of the abort signal or a network error.
   */
  async send(asked: AgentRequest): Promise<Dispatcher.ResponseData> {
    try {
      return await this.#sendOnce(asked);
    } catch (error) {
      if (asked.method !== 'GET' || !isBrokenOff(error)) throw error;
      this.#proven = null;
      return this.#sendOnce(asked);
    }
  }

  async #sendOnce(asked: AgentRequest): Promise<Dispatcher.ResponseData> {
    const { method, path, body, accept, lastEventId, signal, headers = {} } = asked;
    signal.throwIfAborted();
    // Load the network first: nothing may be awaited after the proof, as the listener could change in between.
    const { dispatcher, request } = await this.#network();
    // All concurrent callers share this proof, so an abort of one must not cancel it.
    this.#proven ??= this.#meet().catch((error: unknown) => {
      this.#proven = null;
      throw error;
    });
    await orAborted(this.#proven, signal);
    const { url } = this.#endpoint;
    const token = asked.token ?? this.#endpoint.token;
    return request(`${url}${path}`, {
      method,
      signal,
      dispatcher,
      headers: {
        ...headers,
        accept,
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Closes every connection. */
  async close(): Promise<void> {
    await (await this.#opened)?.dispatcher.destroy();
  }

  /** Loaded on first use, since most commands start without it. */
  #network(): Promise<Network> {
    this.#opened ??= import('undici').then(({ Agent, request }) => {
      // A held request is answered only when its task ends, so only connecting has a timeout.
      const dispatcher = new Agent({
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: { timeout: 10_000 },
      });
      // A new listener on the port of an ended agent must prove its identity again.
      dispatcher.on('disconnect', () => {
        this.#proven = null;
      });
      return { dispatcher, request };
    });
    return this.#opened;
  }

  async #meet(): Promise<void> {
    const { url, isProof } = this.#endpoint;
    if (isProof === null) return;
    const challenge = randomBytes(24).toString('base64url');
    const { dispatcher, request } = await this.#network();
    const limit = deadline(this.#clock, patience);
    const options = { dispatcher, headers: { 'x-service-challenge': challenge } };
    try {
      const { signal } = limit;
      const { headers, body } = await request(`${url}/healthz`, { ...options, signal });
      await body.dump();
      if (isProof(challenge, String(headers['x-service-proof'] ?? ''))) return;
    } finally {
      limit.clear();
    }
    throw new ImpostorError(`the server at ${url} is not the agent of this folder`);
  }
}

function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => {
    signal.removeEventListener('abort', abort);
  });
}
