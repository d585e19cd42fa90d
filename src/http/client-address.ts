import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import proxyAddress from 'proxy-addr';

/** Returns the client address of a request; empty once its connection is closed. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * Creates a function that reads the client address: the peer of the connection or, if the peer is in `trustedProxies`,
 * the right-most untrusted address of `X-Forwarded-For`. Without trusted proxies, the header is ignored. An entry that
 * is not an address counts as the peer itself, so no caller can invent a name. Throws TypeError for a proxy that is
 * neither an address, a network such as `10.0.0.0/8`, nor `loopback`, `linklocal` or `uniquelocal`.
 */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  if (trustedProxies.length === 0) return peerAddress;
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  return (request) => {
    const address = withoutPort(proxyAddress(request, isTrusted));
    return ipaddr.isValid(address) ? plain(address) : peerAddress(request);
  };
}

/** Returns a function that checks whether an address is in `trustedProxies`. Throws TypeError like `clientAddress`. */
export function proxyTrust(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false;
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  return (address) => isTrusted(address, 0);
}

/**
 * Returns the group of an address: an IPv4 address itself, or the /64 of an IPv6 address, which is usually assigned to
 * one household or machine.
 */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** A peer address is already normalised, but a server on IPv6 sees IPv4 clients as `::ffff:192.0.2.1`. */
function peerAddress({ socket: { remoteAddress = '' } }: Pick<IncomingMessage, 'socket'>): string {
  return remoteAddress.includes(':') ? plain(remoteAddress) : remoteAddress;
}

/** Normalises an address, which may have several spellings, such as `192.0.2.1`, `0300.0.2.1` and `3221225985`. */
function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

/** Removes the port that some proxies add: `192.0.2.1:50000`, `[2001:db8::1]:50000`. */
function withoutPort(address: string): string {
  const [, bracketed, dotted] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(address) ?? [];
  return bracketed ?? dotted ?? address;
}
