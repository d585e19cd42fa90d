import { randomBytes } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { Clock } from '../../../src/actors/ports/clock.ts';

export interface FakeConnectionOptions {
  clock: Clock;
  appId: string;
  /** Interval of pings in milliseconds. */
  pingEvery: number;
  /** The number of connections, including this one. */
  count: number;
  /** False for a connection that never sends a hello. */
  greets: boolean;
  /** True while pings are neither sent nor answered. */
  isMute: () => boolean;
  onFrame: (frame: string) => void;
  onGone: () => void;
}

/** One WebSocket of the app. Sends Slack's hello and pings. */
export class FakeConnection {
  readonly #socket: WebSocket;
  readonly #options: FakeConnectionOptions;
  #timer: unknown = null;
  #isLive: boolean;

  constructor(socket: WebSocket, options: FakeConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#isLive = options.greets;
    socket.on('message', (data: Buffer) => options.onFrame(data.toString('utf8')));
    socket.on('ping', (data) => {
      if (!options.isMute()) socket.pong(data);
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      this.#isLive = false;
      options.clock.clearTimeout(this.#timer);
      options.onGone();
    });
    if (options.greets) this.#greet();
    this.#ping();
  }

  /** True from the hello until the socket closes. Envelopes are sent to live connections. */
  get isLive(): boolean {
    return this.#isLive && this.#socket.readyState === this.#socket.OPEN;
  }

  /** Sends a raw frame. */
  send(frame: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(frame);
  }

  /** Asks the app to reconnect. Envelopes still arrive here until the socket is closed. */
  retire(reason: string): void {
    this.send(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'fake' } }));
  }

  /** Closes the socket with a regular close frame. */
  close(): void {
    this.#socket.close(1001);
  }

  /** Drops the connection without a close frame. */
  drop(): void {
    this.#socket.terminate();
  }

  #greet(): void {
    const { appId, count } = this.#options;
    this.send(
      JSON.stringify({
        type: 'hello',
        num_connections: count,
        connection_info: { app_id: appId },
        debug_info: {
          host: `fake-${randomBytes(2).toString('hex')}`,
          build_number: 1,
          approximate_connection_time: 18_060,
        },
      }),
    );
  }

  #ping(): void {
    const { clock, pingEvery, isMute } = this.#options;
    if (!isMute() && this.#socket.readyState === this.#socket.OPEN) this.#socket.ping('Ping');
    this.#timer = clock.setTimeout(() => this.#ping(), pingEvery);
  }
}
