import type { AppsConnectionsOpenResponse } from '@slack/web-api';
import type { Clock, Log, Outbound } from '../../../ports.ts';
import { FrameClient } from './frame-client.ts';
import { SlackSetupError } from './setup-error.ts';
import type { SlackEnvelope } from './slack-envelope.ts';
import { readFrame, type SlackFrame } from './slack-frame.ts';
import { silentSlackLog } from './slack-log.ts';
import { SocketHolder } from './socket-holder.ts';

export interface SlackSocketOptions {
  /** Begins with `xapp-`. */
  appToken: string;
  /** Ends with a slash. */
  apiUrl: string;
  outbound: Outbound;
  clock: Clock;
  log: Log;
  /** Maximum silence of the socket, in milliseconds; the library's own by default. */
  pings?: { clientPingTimeout: number; serverPingTimeout: number };
}

/** The observer of a socket; it is not called after `down`, or after the socket was closed. */
export interface SlackSocketEvents {
  /** Slack delivers over it from now on; `appId` is the app that the token belongs to. */
  up(appId: string | null): void;
  /** Slack will hang up, or the socket gets old. */
  leaving(): void;
  /** The socket is gone, or never opened. */
  down(error: unknown): void;
  /** An envelope arrived. */
  receive(envelope: SlackEnvelope): void;
}

/** Timeout of one request, in milliseconds. */
const patience = 10_000;

/** Time before its expected end at which a socket is closed, in milliseconds. */
const margin = 60_000;

/** One connection in Socket Mode, from its opening to its end; it is never opened again. */
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

  /** Begins to connect and returns at once. Never throws. */
  open(): void {
    // What it resolves with is of no use: it waits for frames that are read here.
    this.#client.start().catch((error: unknown) => this.#end(this.#fault ?? error));
  }

  /** Closes the socket and its requests. Never throws; closing twice is harmless. */
  close(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#options.clock.clearTimeout(this.#ageing);
    void this.#client.disconnect();
    // The first time says goodbye, the second does not wait for an answer.
    this.#client.websocket?.disconnect();
    this.#holder.destroy();
  }

  #end(error: unknown): void {
    if (this.#ended.signal.aborted) return;
    this.close();
    this.#events.down(error ?? new Error('the service hung up'));
  }

  /** A failure of one frame leaves the next ones readable. */
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

  /** Logged once: a sender of one odd frame sends many. */
  #skip(): void {
    if (this.#hasSkipped) return;
    this.#hasSkipped = true;
    this.#options.log.warn({}, 'slack: a frame was skipped, as it is none that Slack sends');
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

  /** Declares the host that Slack names for the socket. Throws SlackSetupError for an unsafe URL. */
  #announce(address: string | undefined): void {
    this.#ended.signal.throwIfAborted();
    const { outbound, apiUrl } = this.#options;
    const url = URL.parse(address ?? '');
    const isSafe = url?.protocol === 'wss:' || new URL(apiUrl).protocol === 'http:';
    if (url === null || !isSafe) {
      throw new SlackSetupError('Slack named no address to connect to; look at api_url');
    }
    const port = url.port === '' ? (url.protocol === 'wss:' ? 443 : 80) : Number(url.port);
    outbound.discovered?.({ host: url.hostname, port, source: 'channels.slack' });
  }

  async #fetch(url: string | URL, init: RequestInit): Promise<Response> {
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(patience)]);
    return this.#options.outbound.fetch(url, { ...init, signal });
  }
}
