import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Log } from '../ports.ts';
import { RecentEvents } from './recent-events.ts';
import { pageProtocol, type Refusal, watcherRefusal } from './watcher-refusal.ts';

const maximumWatchers = 8;

/** Bytes that may wait for one watcher; whoever reads more slowly is let go. */
const maximumBacklog = 1024 * 1024;

/** What a new watcher is sent at once; well below the backlog, or joining could end in being let go. */
const replayed = { count: 200, bytes: maximumBacklog / 2 };

/** Bytes of one message from a watcher; nothing a watcher says is used. */
const maximumMessage = 1024;

/** Sends events to every watcher that holds the token, and the recent ones to whoever joins late. */
export class EventStream {
  readonly #token: string;
  readonly #log: Log;
  readonly #recent = new RecentEvents(replayed);
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
      for (const event of this.#recent.all()) watcher.send(event);
    });
  }

  publish(event: string): void {
    this.#recent.add(event);
    for (const watcher of this.#sockets.clients) this.#tell(watcher, event);
  }

  /** Lets every watcher go. */
  close(): void {
    for (const watcher of this.#sockets.clients) watcher.terminate();
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
