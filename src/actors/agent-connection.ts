import { randomBytes } from 'node:crypto';
import type { Agent, Dispatcher, request } from 'undici';
import { isBrokenOff } from '../machines/error-code.ts';
import type { JsonValue } from '../machines/json.ts';

/** Where an agent listens, and what it is shown. */
export interface AgentEndpoint {
  url: string;
  token: string | null;
  /** Checks the answer of the listener to a challenge; `null` trusts whoever listens. */
  isProof: ((challenge: string, answer: string) => boolean) | null;
}

/** One request to an agent. */
export interface AgentRequest {
  method: 'GET' | 'POST';
  /** Begins with a slash; parts that a person typed are encoded. */
  path: string;
  body?: JsonValue;
  accept: string;
  /** Shown instead of the token of the endpoint. */
  token?: string;
  lastEventId?: string;
  signal: AbortSignal;
}

/** Another program listens where the agent did; nothing was sent to it. */
export class ImpostorError extends Error {
  readonly code = 'not_the_agent';
}

/** Milliseconds that the listener has to prove who it is. */
const patience = 10_000;

interface Network {
  dispatcher: Agent;
  request: typeof request;
}

/**
 * A connection to one agent, which sends nothing to a listener that has not proved to be that agent, since its port may
 * belong to another program by now. It waits for as long as the agent holds a request.
 */
export class AgentConnection {
  readonly #endpoint: AgentEndpoint;
  #proven: Promise<void> | null = null;
  #opened: Promise<Network> | null = null;

  constructor(endpoint: AgentEndpoint) {
    this.#endpoint = endpoint;
  }

  /**
   * Sends a request; one that only reads is sent again when the agent closed a connection that had been idle, to a
   * listener that proves itself anew. Rejects with an ImpostorError, the reason of its signal or an error of the network.
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
    const { method, path, body, accept, lastEventId, signal } = asked;
    signal.throwIfAborted();
    // Once the listener is proven nothing is waited for: it could be another one by then.
    const { dispatcher, request } = await this.#network();
    // It is the proof of all who ask, so none of them ends it by leaving.
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

  /** Loaded when something is first sent, as most commands begin without it. */
  #network(): Promise<Network> {
    this.#opened ??= import('undici').then(({ Agent, request }) => {
      // A held request is answered when its task is, so only connecting has a limit.
      const dispatcher = new Agent({
        ...{ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } },
      });
      // Whoever took over the port of an agent that has ended must prove itself anew.
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
    const { headers, body } = await request(`${url}/healthz`, {
      signal: AbortSignal.timeout(patience),
      dispatcher,
      headers: { 'x-service-challenge': challenge },
    });
    await body.dump();
    if (isProof(challenge, String(headers['x-service-proof'] ?? ''))) return;
    throw new ImpostorError(`what answers at ${url} is not the agent of this folder`);
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
