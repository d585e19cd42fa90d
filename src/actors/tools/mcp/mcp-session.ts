import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  McpError,
  type Progress,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import type { JsonObject } from '../../../machines/json.ts';
import { type OutcomeMark, outcomeMethod, separateMark } from '../../../machines/task/wait-mark.ts';
import type { Clock, Log } from '../../ports.ts';
import { type CallResult, callResult } from './call-result.ts';
import { connectionFault } from './connection-fault.ts';
import { answerPatience, listTools } from './list-tools.ts';
import type { ReadOffer } from './read-offer.ts';
import { quoteOf, ServerFault } from './server-fault.ts';

/** A way to a server; `secrets` are what the server was given over it, which nothing that it says may show. */
export type SessionTransport = Transport & { readonly secrets?: readonly string[] };

/** What a session is held over, and who hears of it. */
export interface SessionPorts {
  /** The name of the server. */
  server: string;
  transport: SessionTransport;
  clock: Clock;
  log: Log;
  /** Hears what tools there are, at first and whenever that may have changed. */
  onOffer: (offer: ReadOffer) => void;
  /** Hears once why the session is lost. */
  onLost: (fault: ServerFault) => void;
}

/** Milliseconds between two looks at the tools: after news of a change, and when there is none. */
const relistPause = 5_000;
const relistInterval = 600_000;

const outcomeMark = z.looseObject({ state: z.string(), ran: z.literal(false).nullable() });

/** Milliseconds for the question what became of a call. */
const outcomePatience = 5_000;

/** Longest that the SDK's own timer takes: a call has a deadline of ours. */
const never = 2 ** 31 - 1;

/**
 * One session with an MCP server. The SDK speaks the protocol; nothing that the server says of itself is used but the
 * list of its tools and what calls come to, and whatever it asks of the agent (sampling, elicitation, roots) is refused.
 */
export class McpSession {
  readonly #ports: SessionPorts;
  readonly #client: Client;
  readonly #refused = new Set<string>();
  #relisting: { timer: unknown; at: number } | null = null;
  #isLost = false;
  /** True until the server has greeted, or has failed to. */
  #isOpening = true;
  /** What the transport said of a server that did not come to greet. */
  #openFault: ServerFault | null = null;

  constructor(ports: SessionPorts, version: string) {
    this.#ports = ports;
    this.#client = new Client({ name: 'holdpoint', version }, { capabilities: {} });
    this.#client.onerror = (error) => {
      if (error instanceof ServerFault) this.#lose(error);
    };
    this.#client.onclose = () => {
      if (!this.#isOpening) this.#lose(new ServerFault('hung up'));
    };
    this.#client.fallbackRequestHandler = (request) => this.#refuse(request.method);
    this.#client.setNotificationHandler(ToolListChangedNotificationSchema, () =>
      this.#relistIn(relistPause),
    );
  }

  /** True until the session is lost or closed. */
  get isOpen(): boolean {
    return !this.#isLost;
  }

  /** What the server was given to sign in with for as long as the session lasts. */
  get secrets(): readonly string[] {
    return this.#ports.transport.secrets ?? [];
  }

  /** Greets the server and learns its tools. Rejects with ServerFault. */
  async open(): Promise<void> {
    try {
      await this.#client.connect(this.#ports.transport, { timeout: answerPatience });
      const offer = await listTools(this.#client, this.#ports.server);
      if (this.#openFault !== null) throw this.#openFault;
      this.#ports.onOffer(offer);
    } catch (error) {
      throw this.#openFault ?? connectionFault(error);
    }
    this.#isOpening = false;
    this.#relistIn(relistInterval);
  }

  /** Calls a tool; an abort tells the server so. Rejects with the error of the SDK. */
  async call(
    tool: string,
    args: JsonObject,
    { signal, onProgress }: { signal: AbortSignal; onProgress: (said: Progress) => void },
  ): Promise<CallResult> {
    // The SDK listens to a signal for as long as that lives, and would call off what has long ended.
    const stop = new AbortController();
    const abort = () => stop.abort('the call was called off');
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    try {
      if (this.#isLost) throw new ServerFault('is not there', { isUnsent: true });
      // Equal calls of two tasks are two calls, which one caller makes there.
      const params = { name: tool, arguments: args, _meta: { [separateMark]: true } };
      const options = { signal: stop.signal, timeout: never, onprogress: onProgress };
      return await this.#client.request({ method: 'tools/call', params }, callResult, options);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /**
   * Asks the server for its tools anew, and returns the hash of one as it is now; `null` for one that it lacks. When it is
   * not what it was, the agent gets what is offered now.
   */
  async digestOf(tool: string, known: string): Promise<string | null> {
    const offer = await listTools(this.#client, this.#ports.server);
    const sha256 = offer.tools.find(({ name }) => name === tool)?.sha256 ?? null;
    if (sha256 !== known && !this.#isLost) this.#ports.onOffer(offer);
    return sha256;
  }

  /** Asks what became of a call by the task that the server said. Rejects with the error of the SDK. */
  outcomeOf(taskId: string): Promise<OutcomeMark> {
    const request = { method: outcomeMethod, params: { task_id: taskId } };
    return this.#client.request(request, outcomeMark, { timeout: outcomePatience });
  }

  /** Looks before long whether the server is still there, as it has answered oddly. */
  doubt(): void {
    this.#relistIn(relistPause);
  }

  /** Gives the session up, as a call has found the server gone. */
  lose(error: unknown): void {
    this.#lose(connectionFault(error));
  }

  /** Ends the session; what is under way fails. Never rejects. */
  async close(): Promise<void> {
    this.#isLost = true;
    this.#ports.clock.clearTimeout(this.#relisting?.timer);
    await this.#client.close().catch(() => undefined);
    // The SDK forgets its transport once it says that it is closed, and closes no process then.
    await this.#ports.transport.close().catch(() => undefined);
  }

  #lose(fault: ServerFault): void {
    if (this.#isLost) return;
    if (this.#isOpening) {
      this.#openFault ??= fault;
      return;
    }
    this.#isLost = true;
    this.#ports.clock.clearTimeout(this.#relisting?.timer);
    this.#ports.onLost(fault);
  }

  /** However often a server says that its tools have changed, they are looked at once in a while, and no later. */
  #relistIn(milliseconds: number): void {
    const { clock } = this.#ports;
    const at = clock.now() + milliseconds;
    if (this.#isLost || (this.#relisting !== null && this.#relisting.at <= at)) return;
    clock.clearTimeout(this.#relisting?.timer);
    this.#relisting = { at, timer: clock.setTimeout(() => void this.#relist(), milliseconds) };
  }

  async #relist(): Promise<void> {
    try {
      const offer = await listTools(this.#client, this.#ports.server);
      if (this.#isLost) return;
      this.#ports.onOffer(offer);
      this.#relisting = null;
      this.#relistIn(relistInterval);
    } catch (error) {
      this.#lose(connectionFault(error));
    }
  }

  async #refuse(method: string): Promise<never> {
    const asked = quoteOf(method);
    if (this.#refused.size < 10 && !this.#refused.has(asked)) {
      this.#refused.add(asked);
      this.#ports.log.warn(
        { server: this.#ports.server },
        `mcp: ${this.#ports.server} asked the agent for ${asked}, which is refused`,
      );
    }
    throw new McpError(ErrorCode.MethodNotFound, 'this client takes no requests');
  }
}
