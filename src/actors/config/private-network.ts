import ipaddr from 'ipaddr.js';
import { createAddressRules, readNetwork } from '../outbound/outbound.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const checkAddress = createAddressRules({ allowPrivateIps: false, allowedPrivateCidrs: [] });

/**
 * Returns who may reach an address: `public` for everybody, `private` for tasks once the network is opened, `never` for
 * no caller.
 */
export function reachOf(text: string): 'public' | 'private' | 'never' {
  if (checkAddress(text, false) === null) return 'public';
  return checkAddress(text, true) === null ? 'private' : 'never';
}

/** Returns in one sentence why a network to be opened is invalid; `null` if it is valid. */
export function mistakeInNetwork(text: string): string | null {
  const reading = readNetwork(text);
  if (!reading.ok) return reading.message.replace(JSON.stringify(text), 'this');
  const [address] = reading.network;
  if (address.range() === 'ipv4Mapped') return 'write this network in its IPv4 form';
  const reaches = [address, lastOf(text, address)].map((end) => reachOf(end.toString()));
  if (reaches.every((reach) => reach === 'public')) {
    return 'this network is not private as a whole; open private networks alone, and list public hosts in allowed_domains';
  }
  if (reaches.every((reach) => reach === 'private')) return null;
  return 'this network contains addresses that are never allowed, such as metadata services; list private networks only';
}

/** True if an address lies in one of these networks; invalid networks contain no address. */
export function isInside(text: string, networks: readonly string[]): boolean {
  const address = ipaddr.process(text);
  return networks.some((entry) => {
    const reading = readNetwork(entry);
    if (!reading.ok || reading.network[0].kind() !== address.kind()) return false;
    return address.match(reading.network);
  });
}

function lastOf(text: string, address: Address): Address {
  const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return family.broadcastAddressFromCIDR(text);
}
