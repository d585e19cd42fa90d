import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Ids } from '../actors/ports/ids.ts';
import { addressGroup, proxyTrust } from './client-address.ts';
import { ConnectionShares } from './connection-shares.ts';
import { type RawRefusal, rawRefusal } from './raw-refusal.ts';

/** Number of connections per address that may stay silent longer than `patience`. */
const mostSilent = 32;

/** Settings for connections that have not sent a request yet. */
interface SilentConnectionsOptions {
  /** Minimum milliseconds for every connection, because many new connections are all silent at first. */
  patience: number;
  /** Closes a connection. */
  close: (socket: Socket) => void;
}

/** The silent connections of one address group, oldest first. */
interface Silent {
  sockets: Set<Socket>;
  /** True while a timer is set for them. */
  isWatched: boolean;
}

/** Closes silent connections of an address beyond 32, oldest first. */
class SilentConnections {
  readonly #options: SilentConnectionsOptions;
  readonly #since = new Map<Socket, { group: string; at: number }>();
  readonly #groups = new Map<string, Silent>();

  constructor(options: SilentConnectionsOptions) {
    this.#options = options;
  }

  /** Adds a new connection of an address group. */
  add(socket: Socket, group: string): void {
    this.#since.set(socket, { group, at: performance.now() });
    const silent = this.#groups.get(group) ?? { sockets: new Set(), isWatched: false };
    this.#groups.set(group, silent);
    silent.sockets.add(socket);
    if (!silent.isWatched) this.#watch(silent);
  }

  /** Removes a connection that has sent a request or closed. */
  delete(socket: Socket): void {
    const noted = this.#since.get(socket);
    if (noted === undefined) return;
    this.#since.delete(socket);
    const silent = this.#groups.get(noted.group);
    silent?.sockets.delete(socket);
    if (silent?.sockets.size === 0) this.#groups.delete(noted.group);
  }

  #watch(silent: Silent): void {
    silent.isWatched = silent.sockets.size > mostSilent;
    if (!silent.isWatched) return;
    // Runs after pending input has been read: on a busy machine the request may already have arrived.
    const look = (): unknown => setImmediate(() => this.#look(silent));
    setTimeout(look, this.#options.patience).unref();
  }

  #look(silent: Silent): void {
    const before = performance.now() - this.#options.patience;
    const old = [...silent.sockets].filter(
      (socket) => (this.#since.get(socket)?.at ?? 0) <= before,
    );
    for (const socket of old.slice(0, Math.max(0, silent.sockets.size - mostSilent))) {
      this.delete(socket);
      this.#options.close(socket);
    }
    this.#watch(silent);
  }
}

/** Maximum number of concurrent connections, regardless of the open-file limit. */
const mostEver = 20_000;

/** Minimum number of concurrent connections, regardless of the open-file limit. */
const leastEver = 16;

/**
 * Maximum number of concurrent connections above the limit that receive a 503; further ones are closed without a
 * response.
 */
const refusedAtOnce = 32;

/** Milliseconds that a rejected client has to read the response. */
const lingering = 1_000;

/** Milliseconds after which an address may keep only a few connections without any data sent. */
const usualPatience = 1_000;

/** Limits of connections, in total and by address. */
export interface ConnectionLimits {
  most: number;
  ids: Ids;
  /** Addresses, networks and named ranges of proxies. A single proxy may use every connection. */
  trustedProxies?: readonly string[];
  patience?: number;
}

/**
 * Limits connections in total and by address. Answers excess connections with 503 and closes them
 * (docs/contract/transports.md). Call this before the server listens.
 */
export function limitConnections(
  server: Server,
  { most, ids, trustedProxies = [], patience = usualPatience }: ConnectionLimits,
): void {
  const serving = server.listeners('connection') as ((socket: Socket) => void)[];
  const isProxy = proxyTrust(trustedProxies);
  const shares = new ConnectionShares({ most, groupOf: addressGroup, isProxy });
  const close = (socket: Socket): void => {
    socket.end(rawRefusal(tooSlow, ids.next()), () => socket.destroy());
  };
  const silent = new SilentConnections({ patience, close });
  let refusals = 0;
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    const leave = shares.take(address);
    if (leave === null) {
      if (refusals >= refusedAtOnce) return void socket.destroy();
      refusals += 1;
      socket.once('close', () => (refusals -= 1));
      return refuse(socket, ids.next());
    }
    if (!isProxy(address)) silent.add(socket, addressGroup(address));
    socket.once('close', () => {
      silent.delete(socket);
      leave();
    });
    for (const serve of serving) serve.call(server, socket);
  });
  server.on('request', ({ socket }) => silent.delete(socket));
  server.maxConnections = most + refusedAtOnce;
}

/**
 * Returns the number of connections that leaves enough file descriptors for the rest of the daemon, its store and its
 * tools' processes. `openFiles` is the process's open-file limit.
 */
export function mostConnections(openFiles: number = openFilesLimit()): number {
  const kept = Math.max(100, Math.ceil(openFiles / 10)) + refusedAtOnce;
  return Math.min(mostEver, Math.max(leastEver, openFiles - kept));
}

const tooMany: RawRefusal = {
  code: 'too_many_connections',
  error: 'too many connections; try again',
  headers: ['Retry-After: 1'],
};

const tooSlow: RawRefusal = {
  code: 'request_timeout',
  error: 'too many connections of this address wait for a request; send it at once',
};

function refuse(socket: Socket, correlationId: string): void {
  const cutOff = setTimeout(() => socket.destroy(), lingering);
  socket.on('error', () => undefined);
  socket.once('end', () => socket.destroy());
  socket.once('close', () => clearTimeout(cutOff));
  // Reads and drops the client's data. Closing a socket with unread bytes would reset the connection and discard the
  // response.
  socket.resume();
  socket.end(rawRefusal(tooMany, correlationId));
}

/**
 * Returns the process's open-file limit. Node reports it only in the diagnostic report; network addresses and
 * environment variables are excluded from that report.
 */
export function openFilesLimit(): number {
  limit ??= readLimit();
  return limit;
}

/** A report takes some milliseconds. */
let limit: number | null = null;

function readLimit(): number {
  Object.assign(process.report, { excludeNetwork: true, excludeEnv: true });
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.MAX_SAFE_INTEGER;
}
