import { SocketModeClient } from '@slack/socket-mode';
import type { AppsConnectionsOpenResponse } from '@slack/web-api';
import type { Clock } from '../../../ports/clock.ts';
import type { Outbound } from '../../../ports/egress.ts';
import type { Log } from '../../../ports/log.ts';
import { SlackSetupError } from './setup-error.ts';
import type { SlackEnvelope } from './slack-envelope.ts';
import { readFrame, type SlackFrame } from './slack-frame.ts';
import { silentSlackLog } from './slack-log.ts';
import { SocketHolder } from './socket-holder.ts';

/**
 * The library's client with a custom frame reader. The library's own reader causes unhandled rejections on unexpected
 * frames, logs their contents, and disconnects as soon as Slack announces the end.
 */
class FrameClient extends SocketModeClient {
  /** Receives the data of each frame. Must not throw. */
  hear: (data: unknown) => void = () => undefined;

  protected override async onWebSocketMessage(data: string | ArrayBuffer): Promise<void> {
    this.hear(data);
  }

  /** Sends a frame. Rejects if the socket is closed. */
  say(message: object): Promise<void> {
    const { websocket } = this;
    return new Promise((resolve, reject) => {
      if (websocket?.isActive() !== true) {
        reject(new Error('slack: the socket is gone'));
        return;
      }
      const text = JSON.stringify(message);
      websocket.send(text, (error?: Error) => (error === undefined ? resolve() : reject(error)));
    });
  }
}

export interface SlackSocketOptions {
  /** Starts with `xapp-`. */
  appToken: string;
  /** With a trailing slash. */
  apiUrl: string;
  outbound: Outbound;
  clock: Clock;
  log: Log;
  /** Maximum silence of the socket, in milliseconds; the library's values by default. */
  pings?: { clientPingTimeout: number; serverPingTimeout: number };
}

/** Observer of a socket; not called after `down` or after the socket was closed. */
export interface SlackSocketEvents {
  /** The socket is ready for deliveries; `appId` is the app that the token belongs to. */
  up(appId: string | null): void;
  /** Slack announced a disconnect, or the socket nears the end of its lifetime. */
  leaving(): void;
  /** The socket closed, or failed to open. */
  down(error: unknown): void;
  receive(envelope: SlackEnvelope): void;
}

/** Timeout of one request, in milliseconds. */
const patience = 10_000;

/** Margin before the expected end of a socket at which it is closed, in milliseconds. */
const margin = 60_000;

/** One Socket Mode connection, from opening to end; never reopened. */
export class SlackSocket {
  readonly #options: SlackSocketOptions;
  readonly #events: SlackSocketEvents;
  readonly #ended = new AbortController();
  readonly #holder = new SocketHolder();
  readonly #client: FrameClient;
  #ageing: unknown = null;
  #fault: unknown = null;
  #hasSkipped = false;

  constructor(options: SlackSocketOptions, events: SlackSocketEvents) {
    this.#options = options;
    this.#events = events;
    this.#client = new FrameClient({
      appToken: options.appToken,
      logger: silentSlackLog,
      autoReconnectEnabled: false,
      dispatcher: options.outbound.dispatcher.compose(this.#holder.interceptor),
      clientOptions: {
        slackApiUrl: options.apiUrl,
        fetch: (url, init) => this.#fetch(url, init as RequestInit),
        retryConfig: { retries: 0 },
        allowAbsoluteUrls: false,
        rejectRateLimitedCalls: true,
      },
      ...options.pings,
    });
    this.#client.hear = (data) => this.#take(readFrame(data));
    this.#client.on('authenticated', (answer: AppsConnectionsOpenResponse) =>
      this.#announce(answer.url),
    );
    this.#client.on('error', (error: unknown) => {
      this.#fault ??= error;
    });
    this.#client.on('disconnected', () => this.#end(this.#holder.fault ?? this.#fault));
  }

  /** Starts connecting and returns at once. Never throws. */
  open(): void {
    // The resolved value is unused: the library waits for frames that are read here.
    this.#client.start().catch((error: unknown) => this.#end(this.#fault ?? error));
  }

  /** Closes the socket and its requests. Never throws; idempotent. */
  close(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#options.clock.clearTimeout(this.#ageing);
    void this.#client.disconnect();
    // The first `disconnect` starts the closing handshake; the second one closes without waiting for its answer.
    this.#client.websocket?.disconnect();
    this.#holder.destroy();
  }

  #end(error: unknown): void {
    if (this.#ended.signal.aborted) return;
    this.close();
    this.#events.down(error ?? new Error('the service hung up'));
  }

  /** A failure on one frame does not affect later frames. */
  #take(frame: SlackFrame): void {
    try {
      if (!this.#ended.signal.aborted) this.#hear(frame);
    } catch (error) {
      this.#options.log.error({ error }, 'slack: a frame could not be handled');
    }
  }

  #hear(frame: SlackFrame): void {
    switch (frame.kind) {
      case 'hello':
        return this.#greet(frame);
      case 'disconnect':
        return frame.reason === 'link_disabled'
          ? this.#end(
              new SlackSetupError(
                'Socket Mode is off; switch it on in the settings of the Slack app',
              ),
            )
          : this.#events.leaving();
      case 'envelope':
        return this.#events.receive(this.#envelopeOf(frame));
      case 'odd':
        this.#skip();
    }
  }

  /** Logged once: a sender of one unexpected frame sends many. */
  #skip(): void {
    if (this.#hasSkipped) return;
    this.#hasSkipped = true;
    this.#options.log.warn({}, 'slack: skipped an unknown frame');
  }

  #greet({ appId, lifetime }: SlackFrame & { kind: 'hello' }): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#ageing);
    this.#ageing =
      lifetime === null
        ? null
        : clock.setTimeout(() => this.#events.leaving(), Math.max(lifetime - margin, lifetime / 2));
    this.#events.up(appId);
  }

  #envelopeOf({ envelopeId, id, type, body }: SlackFrame & { kind: 'envelope' }): SlackEnvelope {
    return {
      id,
      type,
      body,
      ack: (response = {}) => this.#client.say({ envelope_id: envelopeId, payload: response }),
    };
  }

  /** Declares the socket host that Slack names to the egress policy. Throws SlackSetupError for an unsafe URL. */
  #announce(address: string | undefined): void {
    this.#ended.signal.throwIfAborted();
    const { outbound, apiUrl } = this.#options;
    const url = URL.parse(address ?? '');
    const isSafe = url?.protocol === 'wss:' || new URL(apiUrl).protocol === 'http:';
    if (url === null || !isSafe) {
      throw new SlackSetupError('Slack returned no address to connect to; check api_url');
    }
    const port = url.port === '' ? (url.protocol === 'wss:' ? 443 : 80) : Number(url.port);
    outbound.discovered?.({ host: url.hostname, port, source: 'channels.slack' });
  }

  async #fetch(url: string | URL, init: RequestInit): Promise<Response> {
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(patience)]);
    return this.#options.outbound.fetch(url, { ...init, signal });
  }
}
