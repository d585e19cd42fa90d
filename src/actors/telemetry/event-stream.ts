import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { isLoopbackUrl } from '../../machines/loopback.ts';
import type { Log } from '../ports/log.ts';
import { StandingActors } from './standing-actors.ts';
import type { StatelyEvent } from './stately-event.ts';

interface Refusal {
  status: 401 | 403 | 404 | 503;
  reason: string;
}

/** Hosts of the inspector, which listens only on loopback. */
const ownNames = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Checks whether a request may watch: it names this machine and port, comes from no foreign web page and contains the
 * token. Returns `null` if it may.
 */
export function watcherRefusal(
  request: Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>,
  { port, token }: { port: number; token: string },
): Refusal | null {
  if (!isOwnHost(request, port)) return { status: 403, reason: 'the Host is not this inspector' };
  if (!isLoopbackOrigin(request.headers.origin)) {
    return { status: 403, reason: 'the Origin is not on this machine' };
  }
  const [path, query] = (request.url ?? '').split('?', 2);
  if (path !== '/') return { status: 404, reason: 'the stream is at /' };
  const presented = new URLSearchParams(query).get('token') ?? '';
  return isSame(presented, token) ? null : { status: 401, reason: 'the token is missing or wrong' };
}

/** Refuses two Host headers, since only the first would be checked. */
function isOwnHost(
  { headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
  port: number,
): boolean {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  const isSingle = names.filter((name) => name.toLowerCase() === 'host').length === 1;
  return isSingle && ownNames.some((name) => headers.host === `${name}:${port}`);
}

/** Programs send no Origin; a web page always does. */
function isLoopbackOrigin(origin: string | undefined): boolean {
  if (origin === undefined) return true;
  const url = URL.parse(origin);
  return url !== null && /^https?:$/.test(url.protocol) && isLoopbackUrl(url);
}

function isSame(presented: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(presented), digest(expected));
}

/** The newest events of a stream, limited in number and bytes, for new watchers. */
export class RecentEvents {
  readonly #limits: { count: number; bytes: number };
  readonly #events: string[] = [];
  #bytes = 0;

  constructor(limits: { count: number; bytes: number }) {
    this.#limits = limits;
  }

  /** Adds an event and drops the oldest ones until both limits hold. */
  add(event: string): void {
    this.#events.push(event);
    this.#bytes += Buffer.byteLength(event);
    while (this.#events.length > this.#limits.count || this.#bytes > this.#limits.bytes) {
      this.#bytes -= Buffer.byteLength(this.#events.shift() ?? '');
    }
  }

  /** Oldest first. */
  all(): readonly string[] {
    return this.#events;
  }
}

const maximumWatchers = 8;

/** Maximum bytes buffered for one watcher; a slower one is disconnected. */
const maximumBacklog = 1024 * 1024;

/** Events sent to a new watcher at once; well below the buffer limit, which joining could otherwise exceed. */
const replayed = { count: 1_000, bytes: (maximumBacklog * 3) / 8 };
const standingBytes = (maximumBacklog * 3) / 8;

/** Maximum bytes of a message from a watcher; messages are ignored. */
const maximumMessage = 1024;

/**
 * Sends events to every watcher with the token; a new watcher first receives the state of the actors and recent events.
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
  });

  constructor({ token, log }: { token: string; log: Log }) {
    this.#token = token;
    this.#log = log;
  }

  /** Accepts a watcher, or answers with a refusal; must be called for every `upgrade` of a server on `port`. */
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

  /** Disconnects every watcher. */
  close(): void {
    for (const watcher of this.#sockets.clients) watcher.terminate();
  }

  /** The recent events are the end of the stream, so all other events precede them. */
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
