import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Log } from '../ports.ts';
import { RecentEvents } from './recent-events.ts';
import { StandingActors } from './standing-actors.ts';
import type { StatelyEvent } from './stately-event.ts';
import { pageProtocol, type Refusal, watcherRefusal } from './watcher-refusal.ts';

const maximumWatchers = 8;

/** Bytes that may wait for one watcher; whoever reads more slowly is let go. */
const maximumBacklog = 1024 * 1024;

/** What a new watcher is sent at once; together well below the backlog, or joining could end in being let go. */
const replayed = { count: 1_000, bytes: (maximumBacklog * 3) / 8 };
const standingBytes = (maximumBacklog * 3) / 8;

/** Bytes of one message from a watcher; nothing a watcher says is used. */
const maximumMessage = 1024;

/**
 * Sends events to every watcher that holds the token, and to whoever joins late how the actors stand and what happened
 * of late.
 */
export class EventStream {
  readonly #token: string;
  readonly #log: Log;
  readonly #recent = new RecentEvents(replayed);
  readonly #standing = new StandingActors(standingBytes);
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maximumMessage,
    perMessageDeflate: false,
    // What else a watcher names is its token, which is not said back.
    handleProtocols: (named) => named.has(pageProtocol) && pageProtocol,
  });

  constructor({ token, log }: { token: string; log: Log }) {
    this.#token = token;
    this.#log = log;
  }

  /** Takes in a watcher, or answers why not; to be given every `upgrade` of a server on `port`. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, port: number): void {
    const refusal =
      watcherRefusal(request, { port, token: this.#token }) ?? this.#refusalWhenFull();
    if (refusal !== null) {
      refuse(socket, refusal);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (watcher) => {
      watcher.on('error', () => watcher.terminate());
      for (const event of this.#replay()) watcher.send(event);
    });
  }

  publish(event: StatelyEvent): void {
    const text = JSON.stringify(event);
    this.#recent.add(text);
    this.#standing.note(event, text);
    for (const watcher of this.#sockets.clients) this.#tell(watcher, text);
  }

  /** Lets every watcher go. */
  close(): void {
    for (const watcher of this.#sockets.clients) watcher.terminate();
  }

  /** The recent events are the end of the stream, so what is not among them came before. */
  #replay(): string[] {
    const recent = this.#recent.all();
    const known = new Set(recent);
    return [...this.#standing.all().filter((text) => !known.has(text)), ...recent];
  }

  #tell(watcher: WebSocket, event: string): void {
    if (watcher.readyState !== watcher.OPEN) return;
    const backlog = watcher.bufferedAmount;
    if (backlog > maximumBacklog) {
      watcher.terminate();
      this.#log.warn({ backlog }, 'inspector: let a slow watcher go');
      return;
    }
    watcher.send(event);
  }

  #refusalWhenFull(): Refusal | null {
    return this.#sockets.clients.size < maximumWatchers
      ? null
      : { status: 503, reason: `${maximumWatchers} watchers are connected already` };
  }
}

function refuse(socket: Duplex, { status, reason }: Refusal): void {
  const head = [
    `HTTP/1.1 ${status} Refused`,
    'Content-Type: text/plain',
    `Content-Length: ${Buffer.byteLength(reason)}`,
    'Connection: close',
  ];
  socket.on('error', () => socket.destroy());
  socket.once('finish', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${reason}`);
}
