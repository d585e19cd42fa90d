import ipaddr from 'ipaddr.js';
import { readNetwork } from '../egress/egress.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The kinds of address that an operator may open; no other kind that is not public ever is (contract section 11). */
const openable = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);

/** Where clouds tell a machine its secrets. */
const metadata = [
  '169.254.169.254',
  '169.254.170.2',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
].map((address) => ipaddr.parse(address));

/** Whether an address may be reached: by everybody, once it is opened, or never. */
export function reachOf(text: string): 'public' | 'private' | 'never' {
  const address = ipaddr.process(text);
  if (isMetadata(address)) return 'never';
  const kind = address.range();
  if (kind === 'unicast') return 'public';
  return openable.has(kind) ? 'private' : 'never';
}

/** Says what is wrong with a network that is to be opened, in one sentence; `null` for nothing. */
export function mistakeInNetwork(text: string): string | null {
  const reading = readNetwork(text);
  if (!reading.ok) return reading.message.replace(JSON.stringify(text), 'this');
  const [address, bits] = reading.network;
  const kinds = [address.range(), lastOf(text, address).range()];
  if (kinds.includes('ipv4Mapped')) return 'write this network in its IPv4 form';
  const isSingle = bits === address.toByteArray().length * 8;
  const isForbidden = isSingle && isMetadata(address);
  if (kinds.every((kind) => kind === 'unicast') && !isForbidden) {
    return 'this network is not private as a whole; open private networks alone, and list public hosts in allowed_domains';
  }
  if (kinds.every((kind) => openable.has(kind)) && !isForbidden) return null;
  return 'this network holds addresses that are never reached, such as those of metadata services; write private networks alone';
}

/** True when an address lies in one of these networks; those that cannot be read hold none. */
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

function isMetadata(address: Address): boolean {
  return metadata.some((known) => known.toString() === address.toString());
}
