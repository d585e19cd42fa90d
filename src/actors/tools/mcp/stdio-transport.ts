import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../ports/clock.ts';
import { FloodGate } from './flood-gate.ts';
import { LineReader } from './line-reader.ts';
import { flood, mostMessages, redactError } from './message-gate.ts';
import { readableMessage } from './readable-message.ts';
import { ServerFault } from './server-fault.ts';
import type { ServerProcess } from './server-process.ts';

/** Maximum bytes from a server: the burst allows for whole results. */
const mostBytes = { burst: 32 * 1024 * 1024, perSecond: 4 * 1024 * 1024 };

/** Maximum unread bytes sent to a server. */
const mostUnread = 8 * 1024 * 1024;

/**
 * A transport over the pipes of a local server. The SDK's own starts a program without a process group, with an
 * environment of its choice, and reads lines of unlimited number; here exceeding a limit ends the connection.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Their presence alone makes the SDK treat a server that does not answer its first request as one of 2025. */
  readonly pid = null;
  readonly stderr = null;
  readonly #open: () => Promise<ServerProcess>;
  readonly #clock: Clock;
  readonly #secrets: readonly string[];
  #process: ServerProcess | null = null;
  #isClosed = false;

  /** `secrets` are removed from the server's error messages. */
  constructor(
    open: () => Promise<ServerProcess>,
    { clock, secrets }: { clock: Clock; secrets: readonly string[] },
  ) {
    this.#open = open;
    this.#clock = clock;
    this.#secrets = secrets;
  }

  /** Credentials given to the server at its start, in addition to those in the settings. */
  get secrets(): readonly string[] {
    return this.#process?.secrets ?? [];
  }

  /** Starts the server. Rejects with ServerFault. */
  async start(): Promise<void> {
    const process = await this.#open();
    this.#process = process;
    if (this.#isClosed) {
      await process.stop();
      throw new ServerFault('was stopped');
    }
    const reader = new LineReader();
    const messages = new FloodGate(mostMessages, this.#clock);
    const bytes = new FloodGate(mostBytes, this.#clock);
    process.child.stdout.on('data', (chunk: Buffer) => {
      if (this.#isClosed) return;
      try {
        if (!bytes.takes(chunk.length)) throw flood();
        const lines = reader.read(chunk);
        if (!messages.takes(lines.length)) throw flood();
        for (const line of lines) this.#receive(line);
      } catch (error) {
        this.#fail(error as Error);
      }
    });
    void process.ended.then((how) => this.#fail(new ServerFault(how)));
  }

  /** Sends a message. Rejects with ServerFault if the server does not read. */
  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#process?.child.stdin;
    if (stdin === undefined || this.#isClosed) {
      throw new ServerFault('is not there', { isUnsent: true });
    }
    stdin.write(serializeMessage(message));
    if (stdin.writableLength <= mostUnread) return;
    const fault = new ServerFault('does not read what it is sent');
    this.#fail(fault);
    throw fault;
  }

  /** Ends the server, and resolves once no process of it is left. */
  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.onclose?.();
    }
    await this.#process?.stop();
  }

  /** Skips lines that are not messages: many servers log to stdout. */
  #receive(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(readableMessage(line));
    } catch {
      return;
    }
    redactError(message, [...this.#secrets, ...this.secrets]);
    this.onmessage?.(message);
  }

  #fail(error: Error): void {
    if (this.#isClosed) return;
    this.onerror?.(error);
    void this.close();
  }
}
