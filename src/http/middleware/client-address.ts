import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import proxyAddress from 'proxy-addr';

/** Returns the address of a request as text; empty once its connection is gone. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * Makes the reader of client addresses: the peer of the connection or, where the peer is one of `trustedProxies`, the
 * right-most untrusted address of `X-Forwarded-For`. Without trusted proxies the header is ignored. An entry that is no
 * address counts as the peer itself, so that no caller invents a name. Throws TypeError for a proxy that is neither an
 * address, a network such as `10.0.0.0/8`, nor `loopback`, `linklocal` or `uniquelocal`.
 */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  if (trustedProxies.length === 0) return peerAddress;
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  return (request) => {
    const address = withoutPort(proxyAddress(request, isTrusted));
    return ipaddr.isValid(address) ? plain(address) : peerAddress(request);
  };
}

/** Tells whether an address is one of `trustedProxies`. Throws TypeError as `clientAddress` does. */
export function proxyTrust(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false;
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  return (address) => isTrusted(address, 0);
}

/**
 * Returns the group of an address: an IPv4 address itself, the /64 of an IPv6 address, which one household or machine
 * is given.
 */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** The other end has one spelling already, but a server that listens on IPv6 sees IPv4 callers as `::ffff:192.0.2.1`. */
function peerAddress({ socket: { remoteAddress = '' } }: Pick<IncomingMessage, 'socket'>): string {
  return remoteAddress.includes(':') ? plain(remoteAddress) : remoteAddress;
}

/** Normalizes an address, which has many spellings, such as `192.0.2.1`, `0300.0.2.1` and `3221225985`. */
function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

/** Removes the port that some proxies write: `192.0.2.1:50000`, `[2001:db8::1]:50000`. */
function withoutPort(address: string): string {
  const [, bracketed, dotted] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(address) ?? [];
  return bracketed ?? dotted ?? address;
}
