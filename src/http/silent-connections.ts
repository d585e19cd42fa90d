import type { Socket } from 'node:net';

/** Number of connections per address that may stay silent longer than `patience`. */
const mostSilent = 32;

/** Settings for connections that have not sent a request yet. */
export interface SilentConnectionsOptions {
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
export class SilentConnections {
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
