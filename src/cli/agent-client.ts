import type { EventSourceMessage } from 'eventsource-parser';
import type { Dispatcher } from 'undici';
import { AgentConnection, ImpostorError } from '../actors/agent-connection.ts';
import { eventsOf } from '../actors/events-of.ts';
import { agentProof, isSameProof } from '../actors/process/process.ts';
import { type JsonValue, parseJson } from '../machines/json.ts';
import { connectionFailure, notTheAgent, refusal } from './agent-failure.ts';
import type { AgentAddress } from './find-agent.ts';

/** One request to an agent's HTTP API. */
export interface AgentCall {
  method: 'GET' | 'POST' | 'DELETE';
  /** Starts with a slash; user input in it is already percent-encoded. */
  path: string;
  body?: JsonValue;
  /** The task named in messages about a broken connection. */
  taskId?: string;
  /** Its abort reason is the error thrown. */
  signal: AbortSignal;
}

/** A client for one agent's HTTP API. It sets no timeout: it waits as long as the agent holds a request. */
export class AgentClient {
  readonly #address: AgentAddress;
  readonly #connection: AgentConnection;

  constructor(address: AgentAddress) {
    const { url, token, proof } = address;
    this.#address = address;
    this.#connection = new AgentConnection({
      ...{ url, token },
      isProof:
        proof &&
        ((challenge, answer) => isSameProof(answer, agentProof(proof.key, challenge, proof.port))),
    });
  }

  /** The options that select this agent in another command, each preceded by a space. */
  get flags(): string {
    return this.#address.flags;
  }

  /** Returns the JSON of a successful response. Throws CliError for any other response. */
  async json(call: AgentCall): Promise<unknown> {
    try {
      const response = await this.#send(call, 'application/json');
      return await this.#jsonOf(response, call);
    } catch (error) {
      throw this.#explained(error, call);
    }
  }

  /** Returns the text of a successful response. Throws CliError for any other response. */
  async text(call: AgentCall, accept: string): Promise<string> {
    try {
      const response = await this.#send(call, accept);
      const text = await response.body.text();
      const { statusCode: status } = response;
      if (status === 200) return text;
      throw refusal({ status, body: parseJson(text) }, this.#address, call);
    } catch (error) {
      throw this.#explained(error, call);
    }
  }

  /** Yields the events of a stream until the agent ends it. Throws CliError if there is no stream. */
  async *events(
    call: AgentCall & { lastEventId?: string },
  ): AsyncGenerator<EventSourceMessage, void> {
    try {
      const response = await this.#send(call, 'text/event-stream');
      if (response.statusCode !== 200) await this.#jsonOf(response, call);
      yield* eventsOf(response.body);
    } catch (error) {
      throw this.#explained(error, call);
    }
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await this.#connection.close();
  }

  #send(
    { method, path, body, signal, lastEventId }: AgentCall & { lastEventId?: string },
    accept: string,
  ): Promise<Dispatcher.ResponseData> {
    return this.#connection.send({
      ...{ method, path, signal, accept },
      ...(body === undefined ? {} : { body }),
      ...(lastEventId === undefined ? {} : { lastEventId }),
    });
  }

  async #jsonOf(response: Dispatcher.ResponseData, call: AgentCall): Promise<unknown> {
    const text = await response.body.text();
    const body = parseJson(text);
    const isDone = response.statusCode === 200 || response.statusCode === 201;
    if (!isDone || body === undefined) {
      const status = response.statusCode;
      throw refusal({ status, body }, this.#address, call);
    }
    return body;
  }

  #explained(error: unknown, call: AgentCall): unknown {
    if (call.signal.aborted) return call.signal.reason;
    if (error instanceof ImpostorError) return notTheAgent(this.#address);
    return connectionFailure(error, this.#address, call.taskId);
  }
}
