import type { Socket } from 'node:net';
import { addressGroup } from './client-address.ts';
import { ConnectionShares } from './connection-shares.ts';

/** Limits of the connections that are read after their answer. */
export interface LingeringLimits {
  /** Maximum bytes of one connection. */
  bytes: number;
  /** Milliseconds after which a connection is closed, and milliseconds without a byte. */
  time: number;
  silence: number;
  /** Maximum number of connections; one address has at most a quarter, or 32. */
  connections: number;
}

const usualLimits: LingeringLimits = {
  bytes: 64 * 1024 * 1024,
  time: 30_000,
  silence: 5_000,
  connections: 256,
};

/**
 * Closes connections whose client still sends. Closing a socket with unread bytes resets the connection, and the reset
 * discards the answer before the client reads it (docs/contract/transports.md).
 */
export class Lingering {
  readonly #limits: LingeringLimits;
  readonly #shares: ConnectionShares;
  readonly #open = new Set<Socket>();

  constructor(
    limits: Partial<LingeringLimits> = {},
    isProxy: (address: string) => boolean = () => false,
  ) {
    this.#limits = { ...usualLimits, ...limits };
    const { connections: most } = this.#limits;
    this.#shares = new ConnectionShares({ most, groupOf: addressGroup, isProxy });
  }

  /**
   * Sends a last text, then the end, and discards what the client sends until it closes. Closes the connection at once
   * if too many are read already.
   */
  close(socket: Socket, last = ''): void {
    socket.on('error', () => undefined);
    const cut = (): void => void socket.destroy();
    const leave = this.#shares.take(socket.remoteAddress ?? '');
    if (leave === null) return void socket.end(last, cut);
    const { time, silence } = this.#limits;
    let { bytes } = this.#limits;
    const timer = setTimeout(cut, time);
    this.#open.add(socket);
    socket.once('close', () => {
      this.#open.delete(socket);
      clearTimeout(timer);
      leave();
    });
    // The parser of HTTP no longer gets any bytes, so no further request of the connection is served.
    socket.removeAllListeners('data');
    socket.on('data', ({ length }: Buffer) => {
      bytes -= length;
      if (bytes < 0) cut();
    });
    socket.once('end', cut).setTimeout(silence, cut).resume();
    socket.end(last);
  }

  /** Closes all connections at once: some of them belong to no server any more. */
  cutAll(): void {
    for (const socket of this.#open) socket.destroy();
  }
}
