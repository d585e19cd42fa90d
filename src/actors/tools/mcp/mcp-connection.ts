import { type ActorRefFrom, type AnyEventObject, createActor, fromCallback } from 'xstate';
import {
  connectionMachine,
  connectionState,
  type LinkEvent,
  type LinkFault,
  type LinkInput,
  pauseAfter,
} from '../../../machines/channels/connection-machine.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { ConnectionHealth } from '../../ports/mcp-servers.ts';
import { McpSession, type SessionTransport } from './mcp-session.ts';
import type { ReadOffer } from './read-offer.ts';
import { linkFaultOf } from './server-fault.ts';

export interface McpConnectionOptions {
  /** Name of the server. */
  server: string;
  /** Creates a transport to the server; each one is used once. */
  transport: () => SessionTransport;
  version: string;
  /** True if people answer the questions of the server. */
  asks: boolean;
  clock: Clock;
  log: Log;
  /** Returns a random number from 0 to 1, used for jitter. */
  random: () => number;
  /** Receives the offered tools, initially and whenever they may have changed. */
  onOffer: (offer: ReadOffer) => void;
}

/** The connection to an MCP server across all its successive sessions. */
export class McpConnection {
  /** IDs of the server's tasks that calls of the agent follow. */
  readonly followed = new Set<string>();
  readonly #options: McpConnectionOptions;
  readonly #actor: ActorRefFrom<typeof connectionMachine>;
  readonly #closing = new Set<Promise<void>>();
  /** Callbacks waiting for the next state. */
  readonly #waiting = new Set<() => void>();
  #session: McpSession | null = null;
  /** True while the server is known to support no version of MCP from 2026 on. */
  #isOfOld = false;
  #fault: LinkFault | null = null;
  /** The last fault, kept after the next connection; its time and those below in epoch milliseconds. */
  #lastFault: ConnectionHealth['fault'] = null;
  #since: number | null = null;
  #retryAt: number | null = null;

  constructor(options: McpConnectionOptions) {
    this.#options = options;
    this.#actor = createActor(this.#logic(), { clock: options.clock });
    this.#actor.subscribe({
      next: () => this.#wake(),
      error: (error) => {
        options.log.error({ error }, 'mcp: a connection broke for a reason of our own');
        this.#wake();
      },
    });
  }

  /** Why there is no session; `null` while there is one, and before the first result. */
  get fault(): string | null {
    return this.#fault?.message ?? null;
  }

  get health(): ConnectionHealth {
    const isUp = this.#session?.isOpen === true;
    return {
      state: isUp ? 'connected' : connectionState(this.#actor.getSnapshot().value),
      since: isUp ? this.#since : null,
      fault: this.#lastFault,
      retryAt: isUp || this.#fault === null ? null : this.#retryAt,
    };
  }

  /** Connects now if the connection pauses after a fault. */
  retry(): void {
    if (this.#isActive) this.#actor.send({ type: 'connection.retry' });
  }

  /** Ends the current session for a reason that the next one meets too. */
  drop(error: unknown): void {
    this.#session?.lose(error);
  }

  /** Starts connecting. Never throws. */
  start(): void {
    this.#actor.start();
  }

  /**
   * Resolves with the session once it exists; `null` if `signal` aborts, the connection is closed or a person must act
   * first.
   */
  async session(signal: AbortSignal): Promise<McpSession | null> {
    const isHopeless = () => this.#actor.getSnapshot().value === 'failed';
    while (this.#session?.isOpen !== true && !signal.aborted && this.#isActive && !isHopeless()) {
      await this.#change(signal);
    }
    return this.#session?.isOpen === true ? this.#session : null;
  }

  /** Resolves once the first connection attempt has ended, or `signal` aborts. */
  async tried(signal: AbortSignal): Promise<void> {
    while (this.#session === null && this.#fault === null && !signal.aborted && this.#isActive) {
      await this.#change(signal);
    }
  }

  /** Disconnects and resolves once nothing of the server runs here. Never rejects. */
  async close(): Promise<void> {
    if (this.#isActive) this.#actor.send({ type: 'connection.close' });
    await Promise.all(this.#closing);
  }

  get #isActive(): boolean {
    return this.#actor.getSnapshot().status === 'active';
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #logic() {
    const { random } = this.#options;
    return connectionMachine.provide({
      actors: { link: this.#link() },
      actions: { noteFault: ({ context }) => this.#noteFault(context.fault) },
      delays: {
        pause: ({ context }) => {
          const pause = pauseAfter(context, random());
          this.#retryAt = this.#options.clock.now() + pause;
          return pause;
        },
      },
    });
  }

  /**
   * A link is up once the server is initialised and has listed its tools. It spans successive sessions: when a server
   * forgets its session, a new one is opened at once, without a fault.
   */
  #link() {
    return fromCallback<AnyEventObject, LinkInput>(({ input: { link }, sendBack }) => {
      let isStopped = false;
      let current: McpSession;
      const tell = (event: LinkEvent) => void (isStopped || sendBack(event));
      const down = (error: unknown) => tell({ type: 'link.down', link, fault: linkFaultOf(error) });
      const { server, transport, version, clock, log } = this.#options;
      const open = async (): Promise<void> => {
        const session = new McpSession(
          {
            server,
            clock,
            log,
            transport: transport(),
            asks: this.#options.asks,
            isOfOld: this.#isOfOld,
            onOffer: (offer) => void (isStopped || this.#options.onOffer(offer)),
            onLost: (fault) => {
              if (isStopped || !fault.isForgotten) return down(fault);
              this.#leave(session);
              open().catch(down);
            },
          },
          version,
        );
        current = session;
        try {
          await session.open();
        } catch (error) {
          this.#isOfOld = session.isOfOld;
          if (isStopped || !session.endedAtOnce) throw error;
          this.#leave(session);
          return open();
        }
        this.#isOfOld = session.isOfOld;
        if (isStopped) return;
        this.#session = session;
        this.#noteUp(session.version);
        tell({ type: 'link.up', link });
        this.#wake();
      };
      open().catch(down);
      return () => {
        isStopped = true;
        this.#leave(current);
      };
    });
  }

  #leave(session: McpSession): void {
    if (this.#session === session) this.#session = null;
    const closed = session.close();
    this.#closing.add(closed);
    void closed.then(() => this.#closing.delete(closed));
  }

  #noteUp(mcp: string): void {
    this.#fault = null;
    this.#since = this.#options.clock.now();
    this.#options.log.info({ server: this.#options.server, mcp }, 'mcp: connected');
  }

  /** Logs a repeated fault once, until the next connection; times and numbers in it are ignored. */
  #noteFault(fault: LinkFault | null): void {
    const isNews = fault !== null && masked(fault) !== masked(this.#fault);
    this.#fault = fault;
    if (fault !== null) {
      const { message, lasting } = fault;
      this.#lastFault = { message, needsPerson: lasting === true, at: this.#options.clock.now() };
    }
    if (!isNews) return;
    const { server, log } = this.#options;
    log.warn({ server, lasting: fault.lasting }, `mcp: ${server} ${fault.message}`);
  }
}

function masked(fault: LinkFault | null): string | undefined {
  return fault?.message.replaceAll(/\d+/g, '0');
}
