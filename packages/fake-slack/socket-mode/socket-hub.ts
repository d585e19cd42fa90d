import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { JsonObject } from '../../../src/machines/json.ts';
import { type Envelope, EnvelopePost, type EnvelopePostOptions } from './envelope-post.ts';
import { FakeConnection } from './fake-connection.ts';

export interface SocketHubOptions extends EnvelopePostOptions {
  appId: string;
  /** Interval of pings in milliseconds. */
  pingEvery: number;
}

/**
 * Slack's side of Socket Mode: several connections. Each envelope is sent on one of them at a time until it is
 * acknowledged.
 */
export class SocketHub {
  /** True while pings are neither sent nor answered. */
  isMute = false;
  readonly #options: SocketHubOptions;
  readonly #post: EnvelopePost;
  readonly #server = new WebSocketServer({ noServer: true, autoPong: false });
  readonly #connections = new Set<FakeConnection>();
  readonly #tickets = new Set<string>();
  #refused = 0;
  #silent = 0;
  #last: FakeConnection | null = null;

  constructor(options: SocketHubOptions) {
    this.#options = options;
    this.#post = new EnvelopePost(options, (frame) => this.#next()?.send(frame));
  }

  /** Every envelope, oldest first. */
  get envelopes(): readonly Envelope[] {
    return this.#post.envelopes;
  }

  /** The number of live connections. */
  get connections(): number {
    return this.#live().length;
  }

  /** Creates a ticket that opens one connection. */
  newTicket(): string {
    const ticket = randomUUID();
    this.#tickets.add(ticket);
    return ticket;
  }

  /** Accepts a connection with a valid ticket; rejects any other. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const ticket = URL.parse(request.url ?? '/', 'http://fake')?.searchParams.get('ticket') ?? '';
    const isRefused = this.#refused > 0;
    if (isRefused) this.#refused -= 1;
    if (!this.#tickets.delete(ticket) || isRefused) {
      socket.on('error', () => socket.destroy());
      socket.end('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n');
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (opened) => this.#welcome(opened));
  }

  /**
   * Delivers an envelope until it is acknowledged, and returns it. Rejects if no app is connected, and after the
   * maximum number of deliveries.
   */
  async deliver(type: string, payload: JsonObject, takesAnswer: boolean): Promise<Envelope> {
    if (this.connections === 0) throw new Error('no app is connected to the fake Slack');
    return this.#post.deliver(type, payload, takesAnswer);
  }

  /** Sends a raw frame to every connection. */
  frame(frame: string): void {
    for (const connection of this.#connections) connection.send(frame);
  }

  /** Asks every connection to reconnect, as Slack does about once an hour. */
  retire(reason: 'refresh_requested' | 'warning' | 'link_disabled'): void {
    for (const connection of this.#connections) connection.retire(reason);
  }

  /** Closes every connection, with or without a close frame. */
  drop(isOrderly: boolean): void {
    for (const connection of this.#connections) {
      if (isOrderly) connection.close();
      else connection.drop();
    }
  }

  /** Rejects the next connections, accepts them without a hello, or sends the next envelopes twice. */
  spoil(what: 'refuse' | 'silence' | 'double', times: number): void {
    if (what === 'refuse') this.#refused += times;
    else if (what === 'silence') this.#silent += times;
    else this.#post.doubled += times;
  }

  /** Closes all connections and clears all timers. */
  close(): void {
    this.#post.close();
    this.drop(false);
    this.#server.close();
  }

  #welcome(opened: WebSocket): void {
    const greets = this.#silent === 0;
    if (!greets) this.#silent -= 1;
    const connection: FakeConnection = new FakeConnection(opened, {
      ...this.#options,
      count: this.#connections.size + 1,
      greets,
      isMute: () => this.isMute,
      onFrame: (frame) => this.#post.hear(frame),
      onGone: () => {
        this.#connections.delete(connection);
        this.#options.watch.look();
      },
    });
    this.#connections.add(connection);
    this.#options.watch.look();
  }

  /** Rotates the connections, so that a resend uses another connection if there is one. */
  #next(): FakeConnection | undefined {
    const live = this.#live();
    const next = live[(live.findIndex((each) => each === this.#last) + 1) % live.length];
    if (next !== undefined) this.#last = next;
    return next;
  }

  #live(): FakeConnection[] {
    return [...this.#connections].filter(({ isLive }) => isLive);
  }
}
