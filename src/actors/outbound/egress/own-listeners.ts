import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { normaliseAddress } from './address-rules.ts';
import { fellow, itself, neighbour } from './egress-error.ts';

/** A listening address as returned by `server.address()`. */
export interface ListeningAddress {
  address: string;
  port: number;
}

/**
 * Listeners that no request of a task may reach: the daemon's own, its neighbours' on this machine, and other daemons'
 * over the same store (docs/contract/egress.md).
 */
export interface OwnListeners {
  add(listening: ListeningAddress): void;
  /** Replaces the listening addresses of other daemons. */
  setFellows(listening: readonly ListeningAddress[]): void;
  /**
   * Returns why a connection to an address and port is closed; `null` if it reaches none of the listeners. The address
   * to which a listener is bound does not matter. For an open connection, `from` is its local address.
   */
  closedAt(address: string, port: number, from?: string): string | null;
}

/** Creates an empty register; `neighbours` returns the ports of this machine on which neighbours listen. */
export function createOwnListeners(
  neighbours: () => ReadonlySet<number> = () => new Set(),
): OwnListeners {
  const own = new Map<number, string[]>();
  let fellows = new Map<number, string[]>();
  return {
    add: (listening) => addTo(own, listening),
    setFellows(listening) {
      fellows = new Map();
      for (const one of listening) addTo(fellows, one);
    },
    closedAt(text, port, from = '') {
      const address = normaliseAddress(text);
      if (address === null) return null;
      // Routes can lead to this machine through addresses that no interface lists; local and remote address are then
      // equal.
      const isHere = once(() => address === normaliseAddress(from) || isOfThisMachine(address));
      const endsAt = (bound: string[] | undefined) =>
        bound !== undefined && (bound.includes(address) || isHere());
      if (endsAt(own.get(port))) return itself;
      if (endsAt(fellows.get(port))) return fellow;
      return isHere() && neighbours().has(port) ? neighbour : null;
    },
  };
}

function addTo(register: Map<number, string[]>, { address, port }: ListeningAddress): void {
  register.set(port, [...(register.get(port) ?? []), normaliseAddress(address) ?? address]);
}

function once(ask: () => boolean): () => boolean {
  let answer: boolean | null = null;
  return () => (answer ??= ask());
}

/**
 * True for every address that leads back to this machine, regardless of the listener's bound address: routes and
 * firewall rules may forward between addresses.
 */
function isOfThisMachine(address: string): boolean {
  const range = ipaddr.parse(address).range();
  if (range === 'loopback' || range === 'unspecified') return true;
  return Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .some((one) => normaliseAddress(one.address) === address);
}
