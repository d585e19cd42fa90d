import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { JudgeAddress } from './address-rules.ts';
import { EgressLimitError } from './egress-error.ts';

/** An address of a host; `family` is 4 or 6. */
export interface HostAddress {
  address: string;
  family: number;
}

/** Finds every address of a host. Rejects when there is none. */
export type Lookup = (hostname: string) => Promise<readonly HostAddress[]>;

/** Every address of a host, all of them good, or why one of them is not. */
export type CheckedAddresses =
  | { ok: true; addresses: [HostAddress, ...HostAddress[]] }
  | { ok: false; why: string };

/** The system's way to find addresses, the hosts file included. */
export const lookupAll: Lookup = (hostname) => systemLookup(hostname, { all: true });

/**
 * Finds and judges the addresses of a host; one bad address refuses them all, since any could be dialled.
 *
 * `deadline` is in milliseconds. Rejects as `lookup` does, and with an EgressLimitError when it takes too long.
 */
export async function checkedAddresses(
  { hostname, mayBePrivate }: { hostname: string; mayBePrivate: boolean },
  { judge, lookup, deadline }: { judge: JudgeAddress; lookup: Lookup; deadline: number },
): Promise<CheckedAddresses> {
  const family = isIP(hostname);
  if (family !== 0) {
    const fault = judge(hostname, mayBePrivate);
    if (fault !== null) return { ok: false, why: `is ${fault}` };
    return { ok: true, addresses: [{ address: hostname, family }] };
  }
  const found = await intime(lookup(hostname), hostname, deadline);
  for (const { address } of found) {
    const fault = judge(address, mayBePrivate);
    if (fault !== null) return { ok: false, why: `resolves to ${fault}` };
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
