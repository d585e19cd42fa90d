import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { normaliseAddress } from './address-rules.ts';

/** Where a server listens, as `server.address()` says it. */
export interface ListeningAddress {
  address: string;
  port: number;
}

/** The daemon's own listeners, which nothing that a task asks for may reach (contract section 11). */
export interface OwnListeners {
  /** Registers an address where the daemon listens. */
  add(listening: ListeningAddress): void;
  /**
   * True when a connection to this address and port may end at one of them, whichever address it is bound to. For one
   * that is open already, `from` is the address of its own end.
   */
  answerAt(address: string, port: number, from?: string): boolean;
}

/** Creates an empty register. */
export function createOwnListeners(): OwnListeners {
  const bound = new Map<number, string[]>();
  return {
    add({ address, port }) {
      bound.set(port, [...(bound.get(port) ?? []), normaliseAddress(address) ?? address]);
    },
    answerAt(text, port, from = '') {
      const addresses = bound.get(port);
      if (addresses === undefined) return false;
      const address = normaliseAddress(text);
      if (address === null) return false;
      // Routes lead to this machine by addresses that no interface lists; both ends of a connection are then the same.
      if (address === normaliseAddress(from)) return true;
      return addresses.includes(address) || isOfThisMachine(address);
    },
  };
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
