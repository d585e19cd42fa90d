import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type AddressPolicy, addressFault } from './address-policy.ts';
import { EgressLimitError } from './egress-error.ts';

/** An address of a host; `family` is 4 or 6. */
export interface HostAddress {
  address: string;
  family: number;
}

/** Resolves all addresses of a host. Rejects if there are none. */
export type Lookup = (hostname: string) => Promise<readonly HostAddress[]>;

/** All addresses of a host, each allowed, or the reason why one of them is not. */
export type CheckedAddresses =
  | { ok: true; addresses: [HostAddress, ...HostAddress[]] }
  | { ok: false; why: string };

/** Resolves a host with the system resolver, including the hosts file. */
export const lookupAll: Lookup = (hostname) => systemLookup(hostname, { all: true });

/** How the addresses of a host are resolved and checked. */
export interface AddressCheck extends AddressPolicy {
  lookup: Lookup;
  /** In milliseconds. */
  deadline: number;
}

/**
 * Resolves and checks the addresses of a host. A single forbidden address refuses all of them, since any could be
 * dialled. Rejects like `lookup`, and with an EgressLimitError on timeout.
 */
export async function checkedAddresses(
  { host, port }: { host: string; port: number },
  check: AddressCheck,
): Promise<CheckedAddresses> {
  const family = isIP(host);
  if (family !== 0) {
    const why = addressFault({ host, port, address: host, how: 'is' }, check);
    return why === null ? { ok: true, addresses: [{ address: host, family }] } : { ok: false, why };
  }
  const found = await intime(check.lookup(host), host, check.deadline);
  for (const { address } of found) {
    const why = addressFault({ host, port, address, how: 'resolves to' }, check);
    if (why !== null) return { ok: false, why };
  }
  const [first, ...rest] = found.map(({ address }) => ({ address, family: isIP(address) }));
  if (first === undefined) return { ok: false, why: 'resolves to no address' };
  return { ok: true, addresses: [first, ...rest] };
}

async function intime<T>(work: Promise<T>, hostname: string, deadline: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new EgressLimitError(hostname, `could not be resolved in ${deadline} ms`));
  }, deadline);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
