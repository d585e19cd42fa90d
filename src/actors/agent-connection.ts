import { randomBytes } from 'node:crypto';
import { Agent, type Dispatcher, request } from 'undici';
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

/**
 * A connection to one agent, which sends nothing to a listener that has not proved to be that agent, since its port may
 * belong to another program by now. It waits for as long as the agent holds a request.
 */
export class AgentConnection {
  readonly #endpoint: AgentEndpoint;
  #proven: Promise<void> | null = null;
  // A held request is answered when its task is, so only connecting has a limit.
  readonly #dispatcher = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 10_000 },
  });

  constructor(endpoint: AgentEndpoint) {
    this.#endpoint = endpoint;
    // Whoever took over the port of an agent that has ended must prove itself anew.
    this.#dispatcher.on('disconnect', () => {
      this.#proven = null;
    });
  }

  /** Sends a request. Rejects with an ImpostorError, the reason of its signal or an error of the network. */
  async send(asked: AgentRequest): Promise<Dispatcher.ResponseData> {
    const { method, path, body, accept, lastEventId, signal } = asked;
    signal.throwIfAborted();
    this.#proven ??= this.#meet(signal).catch((error: unknown) => {
      this.#proven = null;
      throw error;
    });
    await this.#proven;
    const { url } = this.#endpoint;
    const token = asked.token ?? this.#endpoint.token;
    return request(`${url}${path}`, {
      method,
      signal,
      dispatcher: this.#dispatcher,
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
    await this.#dispatcher.destroy();
  }

  async #meet(signal: AbortSignal): Promise<void> {
    const { url, isProof } = this.#endpoint;
    if (isProof === null) return;
    const challenge = randomBytes(24).toString('base64url');
    const { headers, body } = await request(`${url}/healthz`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
      dispatcher: this.#dispatcher,
      headers: { 'x-service-challenge': challenge },
    });
    await body.dump();
    if (isProof(challenge, String(headers['x-service-proof'] ?? ''))) return;
    throw new ImpostorError(`what answers at ${url} is not the agent of this folder`);
  }
}
