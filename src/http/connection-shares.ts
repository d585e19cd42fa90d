import ipaddr from 'ipaddr.js';
import { isLoopback } from '../machines/loopback.ts';

/** Connections that one address may have, however few there are in all. */
const leastShare = 32;

/** Connections that only this machine itself gets, so that probes and the command line get in. */
const keptForLoopback = 16;

/** Limits of connections and the grouping of addresses. */
export interface ConnectionSharesOptions {
  most: number;
  /** Returns the group of an address. */
  groupOf: (address: string) => string;
  /** Tells whether an address is a proxy, through which many callers come. */
  isProxy: (address: string) => boolean;
}

/**
 * Counts connections by where they come from: one address has at most a quarter of them, or 32, and a few are kept for
 * this machine itself (docs/contract/transports.md). A trusted proxy has as many as there are.
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

  /** Counts a connection, and returns a function that releases it; `null` over the limit. */
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

/** A socket that listens for both families has addresses of IPv4 inside those of IPv6. */
function comesFromHere(address: string): boolean {
  return ipaddr.isValid(address) && isLoopback(ipaddr.process(address).toString());
}
