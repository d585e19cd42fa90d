import type { Socket } from 'node:net';

/** Connections of one address that may be silent for longer than a moment. */
const mostSilent = 32;

/** Settings for connections that have sent no request yet. */
export interface SilentConnectionsOptions {
  /** Milliseconds that every connection is given, since many that come at once are all silent at first. */
  patience: number;
  /** Closes a connection. */
  close: (socket: Socket) => void;
}

/** The silent connections of one group of addresses, the oldest first. */
interface Silent {
  sockets: Set<Socket>;
  /** True while a timer will look at them. */
  isWatched: boolean;
}

/** Closes the connections of an address that say nothing, where there are more than 32 of them, the oldest first. */
export class SilentConnections {
  readonly #options: SilentConnectionsOptions;
  readonly #since = new Map<Socket, { group: string; at: number }>();
  readonly #groups = new Map<string, Silent>();

  constructor(options: SilentConnectionsOptions) {
    this.#options = options;
  }

  /** Notes a new connection of a group of addresses. */
  add(socket: Socket, group: string): void {
    this.#since.set(socket, { group, at: performance.now() });
    const silent = this.#groups.get(group) ?? { sockets: new Set(), isWatched: false };
    this.#groups.set(group, silent);
    silent.sockets.add(socket);
    if (!silent.isWatched) this.#watch(silent);
  }

  /** Notes that a connection has sent a request, or is gone. */
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
    // After what has arrived meanwhile was read: on a busy machine the request may be there already.
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
