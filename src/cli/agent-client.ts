import { randomBytes } from 'node:crypto';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { Agent, type Dispatcher, request } from 'undici';
import { agentProof, isSameProof } from '../actors/process/process.ts';
import type { JsonValue } from '../machines/json.ts';
import { connectionFailure, notTheAgent, refusal } from './agent-failure.ts';
import type { AgentAddress } from './find-agent.ts';

/** One call of an agent's HTTP surface. */
export interface AgentCall {
  method: 'GET' | 'POST';
  /** Begins with a slash; parts that a person typed are encoded. */
  path: string;
  body?: JsonValue;
  /** The task that messages about a broken connection name. */
  taskId?: string;
  /** Aborts with the reason to throw. */
  signal: AbortSignal;
}

/** Timeout of the listener's proof of identity, in milliseconds. */
const patience = 10_000;

/** A client of one agent's HTTP surface; it waits for as long as the agent holds a request. */
export class AgentClient {
  readonly #address: AgentAddress;
  #proven: Promise<void> | null = null;
  // A held request is answered when its task is, so only connecting has a limit.
  readonly #dispatcher = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 10_000 },
  });

  constructor(address: AgentAddress) {
    this.#address = address;
  }

  /** The options that name this agent to another command, each with a space before it. */
  get flags(): string {
    return this.#address.flags;
  }

  /** Answers the JSON of a call that succeeded. Throws a CliError for any other answer. */
  async json(call: AgentCall): Promise<unknown> {
    try {
      const response = await this.#send(call, 'application/json');
      return await this.#jsonOf(response, call);
    } catch (error) {
      throw this.#explained(error, call);
    }
  }

  /** Yields the events of a stream until the agent ends it. Throws a CliError when there is none. */
  async *events(
    call: AgentCall & { lastEventId?: string },
  ): AsyncGenerator<EventSourceMessage, void> {
    const messages: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (message) => void messages.push(message) });
    const decoder = new TextDecoder();
    try {
      const response = await this.#send(call, 'text/event-stream');
      if (response.statusCode !== 200) await this.#jsonOf(response, call);
      for await (const chunk of response.body) {
        parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
        yield* messages.splice(0);
      }
    } catch (error) {
      throw this.#explained(error, call);
    }
  }

  /** Closes every connection. */
  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  async #send(
    { method, path, body, signal, lastEventId }: AgentCall & { lastEventId?: string },
    accept: string,
  ): Promise<Dispatcher.ResponseData> {
    signal.throwIfAborted();
    this.#proven ??= this.#meet(signal).catch((error: unknown) => {
      this.#proven = null;
      throw error;
    });
    await this.#proven;
    const { url, token } = this.#address;
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

  /**
   * Makes the listener prove that it is the agent of the folder, since its port may belong to another program by now.
   */
  async #meet(signal: AbortSignal): Promise<void> {
    const { url, proof } = this.#address;
    if (proof === null) return;
    const challenge = randomBytes(24).toString('base64url');
    const { headers, body } = await request(`${url}/healthz`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
      dispatcher: this.#dispatcher,
      headers: { 'x-service-challenge': challenge },
    });
    await body.dump();
    const answer = String(headers['x-service-proof'] ?? '');
    if (isSameProof(answer, agentProof(proof.key, challenge, proof.port))) return;
    throw notTheAgent(this.#address);
  }

  async #jsonOf(response: Dispatcher.ResponseData, call: AgentCall): Promise<unknown> {
    const text = await response.body.text();
    const body = parsed(text);
    if (response.statusCode !== 200 || body === undefined) {
      const status = response.statusCode;
      throw refusal({ status, body }, this.#address, call.taskId);
    }
    return body;
  }

  #explained(error: unknown, call: AgentCall): unknown {
    if (call.signal.aborted) return call.signal.reason;
    return connectionFailure(error, this.#address, call.taskId);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
