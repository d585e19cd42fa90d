import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { normaliseAddress } from './address-rules.ts';
import { fellow, itself, neighbour } from './egress-error.ts';

/** Where a server listens, as `server.address()` says it. */
export interface ListeningAddress {
  address: string;
  port: number;
}

/**
 * The listeners that nothing that a task asks for may reach: the daemon's own, those of its neighbours on this machine,
 * and those of its fellow daemons over one store (docs/contract/egress.md).
 */
export interface OwnListeners {
  /** Registers an address where the daemon listens. */
  add(listening: ListeningAddress): void;
  /** Replaces the addresses where fellow daemons listen. */
  setFellows(listening: readonly ListeningAddress[]): void;
  /**
   * Returns why a connection to this address and port is closed; `null` when it ends at none of them, whichever address
   * they are bound to. For one that is open already, `from` is the address of its own end.
   */
  closedAt(address: string, port: number, from?: string): string | null;
}

/** Creates an empty register; `neighbours` returns the ports of this machine where neighbours listen. */
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
      // Routes lead to this machine by addresses that no interface lists; both ends of a connection are then the same.
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
 * True for every address that leads back to this machine. Which of them a listener is bound to is not asked, since
 * routes and rules of the machine may lead from one to another.
 */
function isOfThisMachine(address: string): boolean {
  const range = ipaddr.parse(address).range();
  if (range === 'loopback' || range === 'unspecified') return true;
  return Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .some((one) => normaliseAddress(one.address) === address);
}
