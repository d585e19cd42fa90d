import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A parsed network in CIDR notation, or one sentence about its problem. */
export type ReadNetwork = { ok: true; network: [Address, number] } | { ok: false; message: string };

/** Non-public addresses that may be dialled. */
export interface AddressRules {
  /** Opens loopback, private, unique local and carrier-grade NAT addresses. */
  allowPrivateIps: boolean;
  /** Opens such addresses if they lie in one of these networks. */
  allowedPrivateCidrs: readonly string[];
}

/** Returns why an address may not be dialled, such as `a loopback address`; `null` if it may. */
export type CheckAddress = (address: string, mayBePrivate: boolean) => string | null;

/** Cloud metadata addresses, which return credentials to any caller; no setting opens them. */
const metadata: ReadonlySet<string> = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
]);

/** Ranges that settings can open, with their names. */
const openable: ReadonlyMap<string, string> = new Map([
  ['loopback', 'a loopback address'],
  ['private', 'a private address'],
  ['uniqueLocal', 'a private address'],
  ['carrierGradeNat', 'a carrier-grade address'],
]);

const closed: ReadonlyMap<string, string> = new Map([
  ['linkLocal', 'a link-local address'],
  ['multicast', 'a multicast address'],
  ['unspecified', 'an unspecified address'],
  ['broadcast', 'a broadcast address'],
]);

/** IPv4-compatible IPv6 addresses: obsolete, but some systems still dial them. */
const compatible: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('::'), 96];

/**
 * Creates the address check (docs/contract/egress.md): public addresses may be dialled, private ones if they are
 * opened, and metadata, link-local, multicast and reserved ones never. Throws an Error that names an invalid network.
 */
export function createAddressRules(rules: AddressRules): CheckAddress {
  const networks = rules.allowedPrivateCidrs.map((text) => {
    const read = readNetwork(text);
    if (!read.ok) throw new Error(read.message);
    return read.network;
  });
  return (text, mayBePrivate) => {
    const address = readAddress(text);
    if (address === null) return 'no address';
    if (metadata.has(address.toString())) return 'a metadata address';
    const range = rangeOf(address);
    if (range === 'unicast') return null;
    const name = openable.get(range);
    if (name === undefined) return closed.get(range) ?? 'a reserved address';
    if (mayBePrivate || rules.allowPrivateIps) return null;
    return networks.some((network) => contains(network, address)) ? null : name;
  };
}

/** Parses a network such as `10.1.0.0/16`; bits set beyond its prefix are an error. */
export function readNetwork(text: string): ReadNetwork {
  if (!/^[\da-f:.]+\/\d{1,3}$/i.test(text) || !ipaddr.isValidCIDR(text)) {
    return refused(text, 'is no network; write one in CIDR notation, such as 10.1.0.0/16');
  }
  const [address, prefix] = ipaddr.parseCIDR(text);
  if (address.kind() === 'ipv4' && !ipaddr.IPv4.isValidFourPartDecimal(text.split('/')[0] ?? '')) {
    return refused(text, 'has an address of fewer than four parts; write all four');
  }
  const first =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(text)
      : ipaddr.IPv6.networkAddressFromCIDR(text);
  if (first.toString() === address.toString()) return { ok: true, network: [address, prefix] };
  return refused(text, `has bits set beyond its prefix; write ${first.toString()}/${prefix}`);
}

/** Returns the canonical form of an address for comparison; `null` for an invalid one. */
export function normaliseAddress(text: string): string | null {
  return readAddress(text)?.toString() ?? null;
}

/** Parses an address as a socket would; a standard IPv6 mapping of an IPv4 address becomes the IPv4 address. */
function readAddress(text: string): Address | null {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  const [bare = ''] = text.split('%');
  // ipaddr.js reads `::127.0.0.1` as an IPv4 address; the URL parser returns its IPv6 form.
  const spelled = isIPv6(bare) ? URL.parse(`http://[${bare}]`)?.hostname.slice(1, -1) : undefined;
  return spelled === undefined ? null : ipaddr.process(spelled);
}

function rangeOf(address: Address): string {
  const range = address.range();
  const old = range === 'unicast' && address.kind() === 'ipv6' && address.match(compatible);
  return old ? 'reserved' : range;
}

function contains([network, prefix]: [Address, number], address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, prefix);
}

function refused(text: string, why: string): ReadNetwork {
  return { ok: false, message: `${JSON.stringify(text)} ${why}` };
}
