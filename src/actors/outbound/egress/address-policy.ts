import type { CheckAddress } from './address-rules.ts';

/** Decides which addresses may be dialled, for the daemon itself or for tasks. */
export interface AddressPolicy {
  checkAddress: CheckAddress;
  /** True if an operator named the host and port, so that its address may be private. */
  mayBePrivate: (host: string, port: number) => boolean;
  /**
   * Returns why an address is closed in every mode, such as the daemon's own listeners; `null` if it is open. `from` is
   * the local address of an open connection.
   */
  closedAt: (address: string, port: number, from?: string) => string | null;
}

/** A host and port with one of its addresses. `how` is `is` if the host is an IP address, else `resolves to`. */
export interface AddressOfHost {
  host: string;
  port: number;
  address: string;
  how: 'is' | 'resolves to';
}

/** Returns why an address of a host may not be dialled, worded to follow the host's name; `null` if it may. */
export function addressFault(
  { host, port, address, how }: AddressOfHost,
  { checkAddress, mayBePrivate, closedAt }: AddressPolicy,
): string | null {
  const closed = closedAt(address, port);
  if (closed !== null) return closed;
  const fault = checkAddress(address, mayBePrivate(host, port));
  return fault === null ? null : `${how} ${fault}`;
}
