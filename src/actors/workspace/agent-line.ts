import type { EventSourceMessage } from 'eventsource-parser';
import type { Dispatcher } from 'undici';
import type { JsonValue } from '../../machines/json.ts';
import { type AgentConnection, ImpostorError } from '../agent-connection.ts';
import { collectBytes } from '../collect-bytes.ts';
import { deadline } from '../deadline.ts';
import { eventsOf } from '../events-of.ts';
import type { Clock } from '../ports/clock.ts';

/** One request to an agent of the workspace. */
export interface LineCall {
  method: 'GET' | 'POST' | 'DELETE';
  /** Starts with a slash. */
  path: string;
  body?: JsonValue;
  /** Replaces the agent's own token. */
  token?: string;
  /** Further headers. */
  headers?: Readonly<Record<string, string>>;
  /** Timeout of the response, in milliseconds. */
  patience?: number;
  signal?: AbortSignal;
}

/** An agent's response. */
export interface LineAnswer {
  status: number;
  body: unknown;
}

/** The response is not one of an agent; the message is one sentence for people. */
export class LineError extends Error {
  readonly code: 'unreachable' | 'slow' | 'senseless';

  constructor(code: LineError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

const usualPatience = 10_000;

/** Maximum bytes of a response, and of one event of a stream. */
const longestAnswer = 8 * 1024 * 1024;
const longestEvent = 8 * 1024 * 1024;

/** Client for one agent of the workspace. The agent is untrusted, so time and size of its responses are limited. */
export class AgentLine {
  readonly #connection: AgentConnection;
  readonly #clock: Clock;

  constructor(connection: AgentConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** Resolves with status and JSON of a response. Rejects with a LineError, or the signal's reason. */
  async json(call: LineCall): Promise<LineAnswer> {
    return this.#ask(call, 'application/json', async (response) => ({
      status: response.statusCode,
      body: await readJson(response),
    }));
  }

  /** Resolves with status and text of a response. Rejects with a LineError, or the signal's reason. */
  async text(call: LineCall): Promise<{ status: number; text: string }> {
    return this.#ask(call, 'text/plain', async (response) => ({
      status: response.statusCode,
      text: await readText(response),
    }));
  }

  /**
   * Yields the events of a stream until the agent ends it; `onOpen` runs once it has started. Rejects with a LineError,
   * or the signal's reason.
   */
  async *events(
    call: LineCall & { onOpen?: () => void },
  ): AsyncGenerator<EventSourceMessage, void> {
    const { patience = usualPatience, signal: given, onOpen } = call;
    const opening = deadline(this.#clock, patience);
    try {
      const signal = AbortSignal.any([opening.signal, ...(given === undefined ? [] : [given])]);
      const response = await this.#send(call, 'text/event-stream', signal);
      opening.clear();
      const type = String(response.headers['content-type'] ?? '');
      if (response.statusCode !== 200 || !type.startsWith('text/event-stream')) {
        const answer = { status: response.statusCode, body: await readJson(response) };
        throw new LineError('senseless', sentenceOf(answer));
      }
      onOpen?.();
      yield* eventsOf(response.body, longestEvent, endless);
    } catch (error) {
      throw explained(error, opening.signal, given);
    } finally {
      opening.clear();
    }
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #ask<Answer>(
    call: LineCall,
    accept: string,
    read: (response: Dispatcher.ResponseData) => Promise<Answer>,
  ): Promise<Answer> {
    const { patience = usualPatience } = call;
    const limit = deadline(this.#clock, patience);
    const given = call.signal === undefined ? [] : [call.signal];
    try {
      const signal = AbortSignal.any([limit.signal, ...given]);
      return await read(await this.#send(call, accept, signal));
    } catch (error) {
      throw explained(error, limit.signal, call.signal);
    } finally {
      limit.clear();
    }
  }

  #send(
    { method, path, body, token, headers }: LineCall,
    accept: string,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    return this.#connection.send({
      method,
      path,
      accept,
      signal,
      ...(body === undefined ? {} : { body }),
      ...(token === undefined ? {} : { token }),
      ...(headers === undefined ? {} : { headers }),
    });
  }
}

/** Describes in a sentence an unexpected response of an agent. */
export function sentenceOf({ status, body }: LineAnswer): string {
  const { error } = Object(body) as { error?: unknown };
  const said = typeof error === 'string' ? `: ${error.slice(0, 500)}` : '';
  return `the agent answered with status ${status}${said}`;
}

function endless(): LineError {
  return new LineError('senseless', 'the agent sends an event without end');
}

async function readText({ body }: Dispatcher.ResponseData): Promise<string> {
  const tooLong = () => new LineError('senseless', 'the answer of the agent is too long');
  return Buffer.from(await collectBytes(body, longestAnswer, tooLong)).toString('utf8');
}

async function readJson(response: Dispatcher.ResponseData): Promise<unknown> {
  const text = await readText(response);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new LineError('senseless', 'the answer of the agent is not JSON', error);
  }
}

function explained(error: unknown, limit: AbortSignal, given: AbortSignal | undefined): unknown {
  if (error instanceof LineError) return error;
  if (given?.aborted === true) return given.reason;
  const isLate = error instanceof DOMException && error.name === 'TimeoutError';
  if (limit.aborted || isLate)
    return new LineError('slow', 'the agent did not respond in time', error);
  if (error instanceof ImpostorError) {
    const message = `${error.message}; nothing was sent to it`;
    return new LineError('unreachable', message, error);
  }
  return new LineError('unreachable', 'the connection to the agent broke', error);
}
