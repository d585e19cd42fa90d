import ipaddr from 'ipaddr.js';
import { isLoopback } from '../machines/loopback.ts';

/** Minimum number of connections that one address may have, even if the total is low. */
const leastShare = 32;

/** Connections reserved for this machine, so probes and the command line can always connect. */
const keptForLoopback = 16;

/** Limits of connections and the grouping of addresses. */
export interface ConnectionSharesOptions {
  most: number;
  /** Returns the group of an address. */
  groupOf: (address: string) => string;
  /** Returns true if an address is a proxy, through which many clients connect. */
  isProxy: (address: string) => boolean;
}

/**
 * Counts connections by source. One address has at most a quarter of the total, or 32, and a few are reserved for this
 * machine (docs/contract/transports.md). A trusted proxy may use all of them.
 */
export class ConnectionShares {
  readonly #options: ConnectionSharesOptions;
  readonly #open = new Map<string, number>();
  readonly #share: number;
  readonly #mostFromElsewhere: number;
  #all = 0;
  #fromElsewhere = 0;

  constructor(options: ConnectionSharesOptions) {
    const { most } = options;
    this.#options = options;
    this.#share = Math.max(leastShare, Math.floor(most / 4));
    this.#mostFromElsewhere = most - Math.min(keptForLoopback, Math.floor(most / 4));
  }

  /** Counts a connection and returns a function that releases it; `null` above the limit. */
  take(address: string): (() => void) | null {
    const { most, groupOf, isProxy } = this.#options;
    const isElsewhere = !comesFromHere(address);
    if (this.#all >= most) return null;
    if (isElsewhere && this.#fromElsewhere >= this.#mostFromElsewhere) return null;
    const group = groupOf(address);
    const open = this.#open.get(group) ?? 0;
    if (open >= this.#share && !isProxy(address)) return null;
    this.#open.set(group, open + 1);
    this.#all += 1;
    if (isElsewhere) this.#fromElsewhere += 1;
    return () => {
      this.#all -= 1;
      if (isElsewhere) this.#fromElsewhere -= 1;
      const left = (this.#open.get(group) ?? 0) - 1;
      if (left > 0) this.#open.set(group, left);
      else this.#open.delete(group);
    };
  }
}

/** A dual-stack socket reports IPv4 addresses as IPv4-mapped IPv6 addresses. */
function comesFromHere(address: string): boolean {
  return ipaddr.isValid(address) && isLoopback(ipaddr.process(address).toString());
}
